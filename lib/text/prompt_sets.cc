#include "text/prompt_sets.h"

#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "text/prompt_writer.h"

namespace isobit {
namespace {

constexpr uint64_t kStandardSeed = 20240;
constexpr uint64_t kSmokeSeed = 7;
constexpr uint64_t kEdgeSeed = 99;
constexpr size_t kStandardPrompts = 64;
constexpr double kShortestTokens = 8;
constexpr double kLongestTokens =
    490;  // a passage ends with its sentence, up to half a sentence later
constexpr size_t kLengthStride =
    27;  // prime to 64: lengths and kinds run independently of each other

std::string numbered(const char* set, size_t index, std::string_view kind) {
  char number[8];
  std::snprintf(number, sizeof number, "%02zu", index + 1);
  return std::string(set) + "-" + number + "-" + std::string(kind);
}

PromptRecord chat_prompt(std::string id, std::string text, std::string_view kind) {
  PromptRecord record;
  record.id = std::move(id);
  record.messages = Json::array();
  record.messages.push_back({{"role", "user"}, {"content", std::move(text)}});
  record.tags = {std::string(kind)};
  return record;
}

PromptRecord text_prompt(std::string id, std::string text, std::string_view kind) {
  PromptRecord record;
  record.id = std::move(id);
  record.prompt = std::move(text);
  record.tags = {std::string(kind)};
  return record;
}

std::vector<PromptRecord> standard_set() {
  std::vector<PromptRecord> set;
  PromptWriter writer(kStandardSeed);
  const auto kinds = prompt_kinds();
  for (size_t i = 0; i < kStandardPrompts; ++i) {
    const PromptKind& kind = kinds[i % kinds.size()];
    const double step =
        static_cast<double>(i * kLengthStride % kStandardPrompts) / (kStandardPrompts - 1);
    // The least bit of pow may differ between C libraries; a whole number of tokens does not feel
    // it.
    const double target = kShortestTokens * std::pow(kLongestTokens / kShortestTokens, step);
    const auto n_tokens = static_cast<size_t>(std::lround(target));
    set.push_back(chat_prompt(numbered("standard", i, kind.name),
                              writer.long_request(kind, n_tokens), kind.name));
  }
  return set;
}

std::vector<PromptRecord> smoke_set() {
  std::vector<PromptRecord> set;
  PromptWriter writer(kSmokeSeed);
  for (const PromptKind& kind : prompt_kinds()) {
    set.push_back(chat_prompt(numbered("smoke", set.size(), kind.name),
                              writer.short_request(kind, 12 + 2 * set.size()), kind.name));
  }
  return set;
}

// The first `n_tokens` words and marks of the one-token sentences.
std::string text_of_tokens(PromptWriter& writer, size_t n_tokens) {
  const WordList sentences = one_token_sentences();
  std::string text;
  size_t n = 0;
  for (size_t at = writer.below(sentences.size()); n < n_tokens; at = (at + 1) % sentences.size()) {
    std::string_view rest = sentences[at];
    while (!rest.empty() && n < n_tokens) {
      const size_t end = rest.find(' ');
      const std::string_view word = rest.substr(0, end);
      const bool mark = word == "." || word == ",";
      if (!text.empty() && !mark) text += ' ';
      text += word;
      ++n;
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  return text;
}

struct EdgeText {
  std::string_view name;
  std::string_view text;
};
constexpr EdgeText kEdgeTexts[] = {
    {"accents", "Voilà : le garçon naïf a mangé à Zürich, près de Århus. Où est-il né ?"},
    {"greek", "Η θάλασσα είναι ήρεμη σήμερα και ο ουρανός είναι γαλανός."},
    {"cyrillic", "Вчера мы ходили в лес и собирали грибы до вечера."},
    {"arabic", "ذهب الولد إلى السوق واشترى خبزا وتمرا لأمه."},
    {"hebrew", "הילדה קוראת ספר ליד החלון בבוקר."},
    {"devanagari", "आज सुबह बारिश हुई और बच्चे स्कूल नहीं गए।"},
    {"thai", "เมื่อวานนี้ฝนตกหนักมากที่เชียงใหม่"},
    {"chinese", "请把下面的句子翻译成英文：今天下午我们在公园里散步。"},
    {"japanese", "明日の朝、駅前のパン屋で友だちと会います。"},
    {"korean", "내일 아침에 친구와 함께 산에 갈 거예요."},
    {"emoji", "Explain these in one line: 🙂🚀👩‍🔬🏳️‍🌈🇳🇴👍🏽"},
    {"combining",
     "e\u0301 and \u00E9 look the same, but a\u0323\u0302 is one letter with two marks."},
    {"fullwidth", "Ｗｈａｔ ｉｓ １２ ＋ ３０？"},
    {"digits",
     "Add 1, 22, 333, 4444, 55555, 666666 and 7777777; then write 3.14159 and 1,000,000.01."},
    {"numerals", "Are ½, ², Ⅷ, ٣ and ४ numbers? Say which."},
    {"spaces", "one  two   three    four     five      and   then    stop "},
    {"leading-space", "   three spaces come before this sentence."},
    {"tabs", "name\tage\ttown\nAnna\t31\tOslo\nPeter\t28\tLisbon\n"},
    {"newlines",
     "First line\n\nafter one empty line\n\n\nafter two\r\nand a Windows line end\r\n\r\nthe last"},
    {"unusual-spaces",
     "no\u00A0break, thin\u2009space, ideographic\u3000space, line\u2028separator, "
     "zero\u200Bwidth"},
    {"contractions",
     "I'm sure they're late; we'd say it's fine, you've won and she'll stay. DON'T SHOUT, I'LL "
     "LISTEN."},
    {"controls",
     "A bell \x07, an escape \x1B and a delete \x7F stand in this line. How many is that?"},
    {"special-spelling",
     "What does <|im_end|> mean, and how does it differ from <|im_start|> or <|endoftext|>?"},
    {"almost-special", "Neither <|im_end| nor |im_end|> nor < |im_end| > ends a message."},
    {"repeats",
     "hahahahahahahahahahahahahahahahahahaha --------------------------------------------- "
     "........"},
    {"code", "if (a[i]!=b[j]&&!c->done){x+=(y<<2)|0xFF;}//what?"},
    {"url", "Open https://example.org/a_b-c/d?e=f&g=%20h#i and tell me what the query says."},
    {"one-letter", "a"},
    {"one-space", " "},
    {"one-newline", "\n"},
};
constexpr size_t kBoundaries[] = {16, 32, 64, 128, 256};

std::vector<PromptRecord> edge_set() {
  std::vector<PromptRecord> set;
  for (const EdgeText& edge : kEdgeTexts) {
    set.push_back(text_prompt("edge-" + std::string(edge.name), std::string(edge.text), "text"));
  }
  PromptWriter writer(kEdgeSeed);
  for (const size_t boundary : kBoundaries) {
    for (const size_t n_tokens : {boundary - 1, boundary, boundary + 1}) {
      set.push_back(text_prompt("edge-tokens-" + std::to_string(n_tokens),
                                text_of_tokens(writer, n_tokens), "length"));
    }
  }
  return set;
}

}  // namespace

const std::vector<std::string>& builtin_prompt_set_names() {
  static const std::vector<std::string> names{"smoke", "standard", "edge"};
  return names;
}

std::vector<PromptRecord> builtin_prompt_set(const std::string& name) {
  if (name == "smoke") return smoke_set();
  if (name == "standard") return standard_set();
  if (name == "edge") return edge_set();
  throw Error(ErrorCode::usage,
              "there is no built-in prompt set '" + name + "'" +
                  did_you_mean(name, builtin_prompt_set_names()),
              "built in are smoke, standard and edge; or give the path of a .jsonl file");
}

std::string filler_prompt(uint64_t seed, size_t approx_words) {
  PromptWriter writer(seed);
  const auto kinds = prompt_kinds();
  const size_t n_tokens = approx_words + approx_words / 4 + 1;  // marks and numbers
  return writer.long_request(kinds[writer.below(kinds.size())], n_tokens);
}

}  // namespace isobit

// Faults that tokenizers in the field have had, each as the smallest vocabulary that shows it. With
// the real vocabularies: tests/scripts/known_tokens_test.py.
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/json.h"
#include "text/byte_level.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

using namespace isobit;

namespace {

using Ids = std::vector<int32_t>;

// All bytes, then the given tokens from 256 on, spelled as text.
GgufTokenizerParts bytes_and(const char* pre, const std::vector<std::string>& tokens,
                             const std::vector<std::pair<std::string, std::string>>& merges) {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "gpt2";
  parts.pre = pre;
  for (int byte = 0; byte < 256; ++byte)
    parts.tokens.push_back(to_byte_level(std::string(1, static_cast<char>(byte))));
  for (const std::string& token : tokens) parts.tokens.push_back(to_byte_level(token));
  for (const auto& [left, right] : merges)
    parts.merges.push_back(to_byte_level(left) + " " + to_byte_level(right));
  return parts;
}

Ids encode(const GgufTokenizerParts& parts, std::string_view text,
           AddSpecial add_special = AddSpecial::kNo) {
  return make_gguf_tokenizer(parts).encode(text, add_special);
}

// <unk> 0, <s> 1, </s> 2, bytes from 3, then the given tokens from 259 on, best first.
GgufTokenizerParts sentence_piece(const std::vector<const char*>& tokens) {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "llama";
  const auto add = [&](const std::string& token, float score, int32_t type) {
    parts.tokens.push_back(token);
    parts.scores.push_back(score);
    parts.token_types.push_back(type);
  };
  add("<unk>", 0, 2);
  add("<s>", 0, 3);
  add("</s>", 0, 3);
  for (int byte = 0; byte < 256; ++byte) add(byte_token(static_cast<uint8_t>(byte)), 0, 6);
  float score = -1;
  for (const char* token : tokens) add(token, score--, 1);
  return parts;
}

// Llama's tokenizer.json in small: a space in front of every stretch, "</s>" looked for as written
// or in normalised text.
Tokenizer llama_json(bool normalized) {
  const Json added = [&](int id, const char* content) {
    return Json{{"id", id}, {"content", content}, {"special", true}, {"normalized", normalized}};
  }(0, "</s>");
  Json vocab = Json::object();
  int id = 0;
  for (const char* token :
       {"</s>", "\u2581", "a", ".", "<", "/", "s", ">", "-", "\u2581a", "->", "\u2581->"})
    vocab[token] = id++;
  const Json merges = Json::array(
      {Json::array({"\u2581", "a"}), Json::array({"-", ">"}), Json::array({"\u2581", "->"})});
  const Json prepend = {{"type", "Prepend"}, {"prepend", "\u2581"}};
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  return load_tokenizer_json(
      Json{{"added_tokens", Json::array({added})},
           {"normalizer", {{"type", "Sequence"}, {"normalizers", Json::array({prepend, replace})}}},
           {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}}
          .dump(),
      "llama");
}

}  // namespace

TEST_CASE("text after a special token is given its space, as at the start (#4772, #1613)") {
  const GgufTokenizerParts parts = sentence_piece({"\u2581G", "\u2581", "G"});  // 259, 260, 261
  CHECK(encode(parts, "<s>G") == Ids{1, 259});
  CHECK(encode(parts, "G") == Ids{259});
  CHECK(llama_json(false).encode("a</s>->", AddSpecial::kNo) == Ids{9, 0, 11});
}

TEST_CASE("without a space in front there is none beside special tokens either (#8584)") {
  GgufTokenizerParts parts =
      sentence_piece({"\u2581text", "text", "\u2581", "t", "e", "x", "te", "xt"});
  parts.add_space_prefix = false;
  CHECK(encode(parts, "<s>text</s>") == Ids{1, 260, 2});
}

TEST_CASE("a space after a special token is one more than the space put there (#23840)") {
  const GgufTokenizerParts parts = sentence_piece({"\u2581a", "\u2581\u2581", "\u2581", "a"});
  CHECK(encode(parts, "a<s> a") == Ids{259, 1, 261, 259});
}

TEST_CASE("a word that is a token is that token, whatever the merges give (#7193)") {
  // "ab" cannot be reached by merging: "a" goes to " " first.
  const std::vector<std::pair<std::string, std::string>> merges = {{" ", "a"}, {"a", "b"}};
  GgufTokenizerParts whole = bytes_and("llama-bpe", {" a", "ab", " ab"}, merges);
  whole.add_bos = false;
  CHECK(encode(whole, " ab") == Ids{258});
  CHECK(encode(bytes_and("qwen2", {" a", "ab", " ab"}, merges), " ab") == Ids{256, 'b'});
}

TEST_CASE("line breaks stay together, and a lone one is itself after BOS (#6809, #35923)") {
  GgufTokenizerParts parts =
      bytes_and("llama-bpe", {"\n\n", "\n\n\n\n", "<bos>"}, {{"\n", "\n"}, {"\n\n", "\n\n"}});
  parts.bos_id = 258;
  CHECK(encode(parts, "\n\n") == Ids{256});
  CHECK(encode(parts, "\n\n\n\n") == Ids{257});
  CHECK(encode(parts, "\n", AddSpecial::kYes) == Ids{258, '\n'});
}

TEST_CASE("runs of symbols are one piece with the line break after them (imp #660)") {
  const GgufTokenizerParts parts = bytes_and("qwen2", {"->", "):", "):\n", "(x"},
                                             {{"-", ">"}, {")", ":"}, {"):", "\n"}, {"(", "x"}});
  CHECK(encode(parts, "->") == Ids{256});
  CHECK(encode(parts, "(x):\n") == Ids{259, 258});
}

TEST_CASE(
    "\"</s>\" within a text is the token, unless its tokenizer.json looks in normalised text "
    "(#23818, #3993)") {
  CHECK(llama_json(false).encode("a.</s>", AddSpecial::kNo) == Ids{9, 3, 0});
  // Normalised, the token is "\u2581</s>", which stands only at the start of a stretch.
  CHECK(llama_json(true).encode("a.</s>", AddSpecial::kNo) == Ids{9, 3, 4, 5, 6, 7});
  CHECK(llama_json(true).encode("</s>", AddSpecial::kNo) == Ids{0});
  const GgufTokenizerParts parts = sentence_piece({"\u2581a.</", "\u2581", "a", ".", "<", "/"});
  CHECK(encode(parts, "a.</s>").back() == 2);
}

TEST_CASE("a GGUF that does not name its pre-tokenizer is refused (#7476)") {
  CHECK_THROWS_WITH_AS(make_gguf_tokenizer(bytes_and("", {"ab"}, {{"a", "b"}})),
                       doctest::Contains("tokenizer.ggml.pre is missing"), Error);
}

TEST_CASE("merges as pairs are the merges as strings (#9692)") {
  const auto with = [](const Json& merges) {
    return load_tokenizer_json(
        Json{{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
             {"model",
              {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", merges}}}}
            .dump(),
        "pairs");
  };
  const Tokenizer pairs = with(Json::array({Json::array({"a", "b"})}));
  const Tokenizer strings = with(Json::array({"a b"}));
  CHECK(pairs.encode("ab", AddSpecial::kNo) == Ids{2});
  CHECK(strings.encode("ab", AddSpecial::kNo) == Ids{2});
  CHECK(pairs.digest() == strings.digest());
}

TEST_CASE("replacements that feed each other are stopped before they fill the memory") {
  Json steps = Json::array();
  for (int i = 0; i < 12; ++i)
    steps.push_back(
        {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aaaaaaaaaa"}});
  const Tokenizer tokenizer = load_tokenizer_json(
      Json{{"added_tokens", Json::array()},
           {"normalizer", {{"type", "Sequence"}, {"normalizers", steps}}},
           {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", Json::array()}}}}
          .dump(),
      "growing");
  try {
    tokenizer.encode("a", AddSpecial::kNo);
    FAIL("nothing was thrown");
  } catch (const Error& e) {
    CHECK(e.message().starts_with("the normalizer's replacement of 'a' makes a text of"));
  }
}

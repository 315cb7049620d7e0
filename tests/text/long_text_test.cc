// Texts that make a careless tokenizer take hours or overflow a stack: a megabyte of one character,
// of marks in the wrong order, of digits. Every model and every preset, on a thread whose stack is
// too small for any recursion over the text.
#include <doctest/doctest.h>
#include <pthread.h>

#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "text/byte_level.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

using namespace isobit;

namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr size_t kSmallStackBytes = size_t{192} << 10;

std::string repeated(std::string_view part, size_t n_bytes) {
  std::string out;
  while (out.size() < n_bytes) out += part;
  return out;
}

// What a doctest assertion may not do, another thread's stack may: work runs there, checks here.
void on_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, kSmallStackBytes) == 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

const char* const kParts[] = {
    "a",  " ",    "\n", "\u754C", "\U0001F600", "\u0301",       "<",           "0", "=",
    "a ", "\r\n", "'",  " \n",    "\u2581",     "\u0301\u0323", "\u1100\u1161"};

struct Named {
  const char* name;
  Tokenizer tokenizer;
};

void add(GgufTokenizerParts& parts, const std::string& token, float score, int32_t type) {
  parts.tokens.push_back(token);
  parts.scores.push_back(score);
  parts.token_types.push_back(type);
}

GgufTokenizerParts with_bytes(const char* model) {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = model;
  add(parts, "<unk>", 0, 2);
  add(parts, "<s>", 0, 3);
  add(parts, "</s>", 0, 3);
  for (int byte = 0; byte < 256; ++byte) add(parts, byte_token(static_cast<uint8_t>(byte)), 0, 6);
  float score = -1;
  for (const char* token : {"\u2581", "a", "aa", "aaaa", "\u2581\u2581", "\u754C", "\u754C\u754C",
                            "\n", "<", "<<", "\u2581a"})
    add(parts, token, score--, 1);
  parts.unknown_id = 0;
  return parts;
}

Tokenizer sentence_piece() {
  return make_gguf_tokenizer(with_bytes("llama"));
}

Tokenizer characters() {
  GgufTokenizerParts parts = with_bytes("gemma4");
  parts.merges = {"a a", "aa aa", "\u2581 \u2581", "\u754C \u754C", "< <"};
  return make_gguf_tokenizer(parts);
}

Tokenizer unigram() {
  GgufTokenizerParts parts = with_bytes("t5");
  parts.eos_id = 2;
  parts.add_space_prefix = true;
  return make_gguf_tokenizer(parts);
}

Tokenizer word_piece() {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "bert";
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) add(parts, token, 0, 3);
  for (const char* token : {"\u2581a", "a", "\u2581\u754C", "\u2581<", "\u2581=", "\u25810", "0"})
    add(parts, token, 0, 1);
  parts.scores.clear();
  parts.unknown_id = 1;
  parts.cls_id = 2;
  parts.separator_id = 3;
  return make_gguf_tokenizer(parts);
}

GgufTokenizerParts bytes_parts(const char* pre) {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "gpt2";
  parts.pre = pre;
  for (int byte = 0; byte < 256; ++byte)
    parts.tokens.push_back(to_byte_level(std::string(1, static_cast<char>(byte))));
  for (const char* token : {"aa", "aaaa"}) parts.tokens.emplace_back(token);
  parts.merges = {"a a", "aa aa"};
  return parts;
}

Tokenizer from_fixture(size_t base) {
  const Json bases = parse_json(
      read_file(std::string(ISOBIT_SOURCE_DIR) + "/tests/text/fixtures/tokenizer_models.json"),
      "fixture");
  return load_tokenizer_json(bases.at(base).at("base").dump(), "fixture");
}

std::vector<Named> models() {
  std::vector<Named> out;
  out.push_back({"BPE over bytes", make_gguf_tokenizer(bytes_parts("qwen2"))});
  out.push_back({"BPE over characters", characters()});
  out.push_back({"SentencePiece BPE", sentence_piece()});
  out.push_back({"Unigram", unigram()});
  out.push_back({"WordPiece", word_piece()});
  for (size_t base = 0; base < 6; ++base) out.push_back({"fixture", from_fixture(base)});
  return out;
}

}  // namespace

TEST_CASE("a megabyte of one thing is encoded by every kind of model without recursion") {
  const std::vector<Named> all = models();
  for (const Named& model : all) {
    CAPTURE(model.name);
    for (const char* part : kParts) {
      CAPTURE(part);
      const std::string text = repeated(part, kMegabyte);
      std::vector<int32_t> ids;
      std::string failure;
      on_small_stack([&] {
        try {
          ids = model.tokenizer.encode(text, AddSpecial::kNo);
          model.tokenizer.decode(ids, SkipSpecial::kNo);
        } catch (const Error& error) {
          failure = error.message();
        }
      });
      CHECK(failure == "");
      CHECK(ids.size() <= text.size() + 1);
    }
  }
}

TEST_CASE("a quarter of a megabyte of one thing is cut by every preset") {
  for (const std::string& preset : pre_tokenizer_preset_names()) {
    CAPTURE(preset);
    const PreTokenizer pre = pre_tokenizer_preset(preset, "preset").pre_tokenizer;
    for (const char* part : kParts) {
      CAPTURE(part);
      const std::string text = repeated(part, kMegabyte / 4) + "x 1";
      std::string failure;
      size_t n_bytes = 0;
      on_small_stack([&] {
        try {
          PreTokenizerScratch scratch;
          for (const std::string_view piece : pre.split(text, TextPlace::kStart, scratch))
            n_bytes += piece.size();
        } catch (const Error& error) {
          failure = error.message();
        }
      });
      CHECK(failure == "");
      CHECK(n_bytes > 0);
    }
  }
}

TEST_CASE("a megabyte of marks in the wrong order is normalised as a short run is") {
  for (const auto form :
       {UnicodeForm::kNfc, UnicodeForm::kNfd, UnicodeForm::kNfkc, UnicodeForm::kNfkd}) {
    const std::string out = to_unicode_form("q" + repeated("\u0301\u0323", kMegabyte), form);
    CHECK(out.size() == kMegabyte + 1);
    CHECK(out.substr(1, 2) == "\u0323");  // class 220 goes before 230
    CHECK(out.substr(kMegabyte - 1) == "\u0301");
  }
}

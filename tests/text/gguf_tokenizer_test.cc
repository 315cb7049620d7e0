#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/text/gguf_vocabulary.h"
#include "text/byte_level.h"
#include "text/prompt_sets.h"
#include "text/tokenizer.h"

using namespace isobit;

namespace {

// All bytes, some merges, and a token of each kind at the end.
GgufTokenizerParts parts_of(const std::string& pre) {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "gpt2";
  parts.pre = pre;
  for (int byte = 0; byte < 256; ++byte)
    parts.tokens.push_back(to_byte_level(std::string(1, static_cast<char>(byte))));
  for (const char* merged : {"he", "ll", "hell", "hello", "12", "123"})
    parts.tokens.emplace_back(merged);
  parts.merges = {"h e", "l l", "he ll", "hell o", "1 2", "12 3"};
  parts.token_types.assign(parts.tokens.size(), 1);
  for (const auto& [token, type] : {std::pair{"<s>", 3},
                                    {"</s>", 3},
                                    {"<tool>", 4},
                                    {"<unused>", 5},
                                    {"<unk>", 2},
                                    {"<0x41>", 6}}) {
    parts.tokens.emplace_back(token);
    parts.token_types.push_back(type);
  }
  parts.bos_id = 262;
  parts.eos_id = 263;
  return parts;
}

std::string refusal(const GgufTokenizerParts& parts) {
  try {
    make_gguf_tokenizer(parts);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    CHECK(error.message().starts_with("small.gguf"));
    return error.message();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The path of the SmolLM2 GGUF, or "" after saying so.
std::string smollm2_path() {
  const char* models = std::getenv("ISOBIT_MODELS");
  const char* home = std::getenv("HOME");
  const std::string folder = models ? models : std::string(home ? home : ".") + "/.cache/isobit";
  std::string path = folder + "/SmolLM2-135M-Instruct.Q4_1.gguf";
  if (std::filesystem::exists(path)) return path;
  MESSAGE("SKIPPED: no "
          << path << " (scripts/fetch_model smollm2 gets it; ISOBIT_MODELS names another folder)");
  return {};
}

}  // namespace

TEST_CASE(
    "control tokens are special, user-defined ones are text, unused ones are not looked for") {
  const Tokenizer tokenizer = make_gguf_tokenizer(parts_of("gpt-2"));
  CHECK(tokenizer.encode("<s>hello<tool></s>", AddSpecial::kNo) ==
        std::vector<int32_t>{262, 259, 264, 263});
  CHECK(tokenizer.encode("<unused>", AddSpecial::kNo).size() == 8);
  CHECK(tokenizer.encode("<0x41>", AddSpecial::kNo).size() == 6);
  CHECK(tokenizer.encode("<unk>", AddSpecial::kNo) == std::vector<int32_t>{266});
  CHECK(tokenizer.is_special(262));
  CHECK_FALSE(tokenizer.is_special(264));
  CHECK(tokenizer.token_bytes(262).empty());
  CHECK(tokenizer.token_bytes(264) == "<tool>");
  CHECK(tokenizer.bos_id() == 262);
  CHECK(tokenizer.eos_token() == "</s>");
}

TEST_CASE("BOS and EOS are added when the file or its preset says so") {
  GgufTokenizerParts parts = parts_of("gpt-2");
  CHECK(make_gguf_tokenizer(parts).encode("hello", AddSpecial::kYes) == std::vector<int32_t>{259});
  parts.add_bos = true;
  parts.add_eos = true;
  CHECK(make_gguf_tokenizer(parts).encode("hello", AddSpecial::kYes) ==
        std::vector<int32_t>{262, 259, 263});
  CHECK(make_gguf_tokenizer(parts).encode("hello", AddSpecial::kNo) == std::vector<int32_t>{259});
  parts = parts_of("llama-bpe");
  CHECK(make_gguf_tokenizer(parts).encode("hello", AddSpecial::kYes) ==
        std::vector<int32_t>{262, 259});
  parts.add_bos = false;
  CHECK(make_gguf_tokenizer(parts).encode("hello", AddSpecial::kYes) == std::vector<int32_t>{259});
  parts.add_bos = true;
  parts.bos_id.reset();
  CHECK(contains(refusal(parts), "bos_token_id is missing"));
}

TEST_CASE("presets split numbers as their models do") {
  const auto n_tokens = [](const char* pre, const char* text) {
    return make_gguf_tokenizer(parts_of(pre)).encode(text, AddSpecial::kNo).size();
  };
  CHECK(n_tokens("gpt-2", "123") == 1);
  CHECK(n_tokens("smollm", "123") == 3);
  CHECK(n_tokens("qwen2", "123") == 3);
  CHECK(n_tokens("llama-bpe", "1231") == 2);
  CHECK(n_tokens("default", "123123") == 2);
  // Qwen2's tokenizer composes characters, the others keep them apart.
  CHECK(n_tokens("qwen2", "e\u0301") == 2);
  CHECK(n_tokens("gpt-2", "e\u0301") == 3);
}

TEST_CASE("sections that contradict themselves are refused") {
  const auto changed = [](auto change) {
    GgufTokenizerParts parts = parts_of("gpt-2");
    change(parts);
    return refusal(parts);
  };
  using Parts = GgufTokenizerParts;
  CHECK(contains(changed([](Parts& p) { p.model = "rwkv"; }), "\"rwkv\""));
  CHECK(contains(changed([](Parts& p) { p.merges.clear(); }), "merges is missing"));
  CHECK(contains(changed([](Parts& p) { p.scores = {1, 2}; }), "scores has 2 entries"));
  CHECK(contains(changed([](Parts& p) { p.model = "llama"; }), "scores is missing"));
  CHECK(contains(changed([](Parts& p) { p.model = "t5"; }), "scores is missing"));
  CHECK(contains(changed([](Parts& p) { p.pre = ""; }), "tokenizer.ggml.pre is missing"));
  CHECK(contains(changed([](Parts& p) { p.pre = "smolm"; }), "did you mean 'smollm'"));
  CHECK(contains(changed([](Parts& p) { p.tokens.clear(); }), "empty"));
  CHECK(
      contains(changed([](Parts& p) { p.token_types.pop_back(); }), "267 entries for 268 tokens"));
  CHECK(contains(changed([](Parts& p) { p.token_types[0] = 7; }), "unknown type 7"));
  CHECK(contains(changed([](Parts& p) { p.token_types[0] = -1; }), "unknown type -1"));
  CHECK(contains(changed([](Parts& p) { p.bos_id = 268; }), "bos_token_id is 268"));
  CHECK(contains(changed([](Parts& p) { p.eos_id = int64_t{1} << 40; }), "eos_token_id"));
  CHECK(contains(changed([](Parts& p) { p.pad_id = -1; }), "padding_token_id"));
  CHECK(contains(changed([](Parts& p) { p.unknown_id = 5000; }), "unknown_token_id"));
  CHECK(contains(changed([](Parts& p) { p.tokens[3] = p.tokens[4]; }), "both spelled"));
  CHECK(contains(changed([](Parts& p) { p.tokens[262] = ""; }), "no content"));
  CHECK(contains(changed([](Parts& p) { p.tokens[262] = "\xFF"; }), "UTF-8"));
  CHECK(
      contains(changed([](Parts& p) { p.tokens[262] = std::string(70000, 'x'); }), "70000 bytes"));
  for (const char* merge : {"", " ", "h", "h e l", " he", "he ", "h  e"}) {
    CHECK(contains(changed([&](Parts& p) { p.merges[2] = merge; }), "merge 2"));
  }
  CHECK(contains(changed([](Parts& p) { p.merges[2] = "he xx"; }), "not in the vocabulary"));
  CHECK(contains(changed([](Parts& p) { p.merges[2] = "h e"; }), "repeats merge 0"));
}

TEST_CASE("a file without token types has no special tokens") {
  GgufTokenizerParts parts = parts_of("gpt-2");
  parts.token_types.clear();
  const Tokenizer tokenizer = make_gguf_tokenizer(parts);
  CHECK(tokenizer.encode("<s>", AddSpecial::kNo).size() == 3);
  CHECK_FALSE(tokenizer.is_special(262));
}

TEST_CASE("SmolLM2's vocabulary gives the ids of Hugging Face") {
  const std::string path = smollm2_path();
  if (path.empty()) return;
  const Tokenizer tokenizer = make_gguf_tokenizer(GgufVocabularyReader(path).parts());
  CHECK(tokenizer.vocab_size() == 49152);
  const Json cases = parse_json(
      read_file(std::string(ISOBIT_SOURCE_DIR) + "/tests/text/fixtures/smollm2_ids.json"), "cases");
  REQUIRE(cases.size() > 50);
  for (const Json& entry : cases) {
    CAPTURE(entry[0].dump());
    CHECK(tokenizer.encode(entry[0].get<std::string>(), AddSpecial::kYes) ==
          entry[1].get<std::vector<int32_t>>());
  }
  // It has no token for U+0004: dropped, as Hugging Face drops it, and visible.
  CHECK(tokenizer.encode("\x04", AddSpecial::kNo).empty());
  CHECK_FALSE(
      tokenizer.round_trips("a\x04"
                            "b"));
}

TEST_CASE("built-in prompts have the lengths they promise with SmolLM2's tokenizer") {
  const std::string path = smollm2_path();
  if (path.empty()) return;
  const Tokenizer tokenizer = make_gguf_tokenizer(GgufVocabularyReader(path).parts());
  size_t shortest = SIZE_MAX;
  size_t longest = 0;
  size_t n_above_128 = 0;
  for (const PromptRecord& record : builtin_prompt_set("standard")) {
    const size_t n =
        tokenizer.encode(record.messages[0].at("content").get<std::string>(), AddSpecial::kNo)
            .size();
    shortest = std::min(shortest, n);
    longest = std::max(longest, n);
    n_above_128 += n > 128;
  }
  CHECK(shortest == 8);
  CHECK(longest <= 512);
  CHECK(longest > 450);
  CHECK(n_above_128 > 15);
  for (const PromptRecord& record : builtin_prompt_set("edge")) {
    if (!record.id.starts_with("edge-tokens-")) continue;
    const size_t promised = std::stoul(record.id.substr(12));
    CHECK_MESSAGE(tokenizer.encode(*record.prompt, AddSpecial::kNo).size() == promised, record.id);
  }
}

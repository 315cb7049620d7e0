// The files beside a tokenizer.json, against what transformers makes of them
// (scripts/oracle/tokenizer_config_oracle.py), and what is refused in them.
#include "text/tokenizer_config.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"
#include "text/tokenizer.h"

using namespace isobit;

namespace {

Json fixture(const std::string& name) {
  return parse_json(read_file(std::string(ISOBIT_SOURCE_DIR) + "/tests/text/fixtures/" + name),
                    name);
}

const Json& tiny_json() {
  static const Json json = fixture("tiny_tokenizer.json");
  return json;
}

TokenizerSideFiles side_files(const Json& files) {
  const auto text = [&](const char* key) {
    return files.contains(key) ? std::optional(files.at(key).dump()) : std::nullopt;
  };
  return {
      .config = text("config"), .special_tokens_map = text("map"), .added_tokens = text("added")};
}

Tokenizer tiny_with(const Json& files, const Json& patch = Json::object()) {
  Json json = tiny_json();
  for (auto it = patch.begin(); it != patch.end(); ++it) json[it.key()] = *it;
  return load_tokenizer_json(json.dump(), "tiny", side_files(files));
}

Tokenizer with_config(const Json& config) {
  return tiny_with({{"config", config}});
}

std::string refusal(const Json& files) {
  try {
    tiny_with(files);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    return error.message();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json id_json(std::optional<int32_t> id) {
  return id ? Json(*id) : Json();
}

}  // namespace

TEST_CASE("ids are those of transformers whatever lies beside the tokenizer.json") {
  size_t n_checked = 0;
  for (const Json& entry : fixture("tokenizer_config.json")) {
    const auto name = entry.at("name").get<std::string>();
    CAPTURE(name);
    const Tokenizer tokenizer = tiny_with(entry.at("files"), entry.at("patch"));
    CHECK(id_json(tokenizer.bos_id()) == entry.at("bos_id"));
    CHECK(id_json(tokenizer.eos_id()) == entry.at("eos_id"));
    for (const Json& row : entry.at("cases")) {
      const auto text = row[0].get<std::string>();
      CAPTURE(text);
      CHECK(tokenizer.encode(text, AddSpecial::kNo) == row[1].get<std::vector<int32_t>>());
      CHECK(tokenizer.encode(text, AddSpecial::kYes) == row[2].get<std::vector<int32_t>>());
      ++n_checked;
    }
  }
  CHECK(n_checked >= 160);
}

TEST_CASE("BOS and EOS say where they came from, and contradictions are noted") {
  const Tokenizer tokenizer = with_config({{"bos_token", "<|im_start|>"},
                                           {"eos_token", {{"content", "<|im_end|>"}}},
                                           {"pad_token", nullptr}});
  CHECK(tokenizer.bos_token() == "<|im_start|>");
  CHECK(tokenizer.eos_token() == "<|im_end|>");
  CHECK_FALSE(tokenizer.pad_id());
  CHECK(tokenizer.bos_from() == "tokenizer_config.json");
  CHECK(tokenizer.notes().empty());
  const Tokenizer mapped = tiny_with({{"map", {{"bos_token", "<|im_start|>"}}}});
  CHECK(mapped.bos_from() == "special_tokens_map.json");
  CHECK(mapped.eos_from().empty());
  const Tokenizer contradicted = with_config(
      {{"bos_token", "<|im_start|>"}, {"add_bos_token", true}, {"add_eos_token", false}});
  REQUIRE(contradicted.notes().size() == 1);
  CHECK(contains(contradicted.notes()[0], "add_bos_token"));
  CHECK(contradicted.prefix_ids().empty());
}

TEST_CASE("side files that contradict the tokenizer or change what it means are refused") {
  const auto config_refusal = [](const Json& config) { return refusal({{"config", config}}); };
  const auto listed = [&](const char* id, const char* content) {
    return config_refusal({{"added_tokens_decoder", {{id, {{"content", content}}}}}});
  };
  CHECK(contains(config_refusal({{"eos_token", 7}}), "eos_token"));
  CHECK(contains(listed("2", "<other>"), "<other>"));
  CHECK(contains(listed("x", "<other>"), "token id"));
  CHECK(contains(listed("5", "<other>"), "the next free one"));
  CHECK(contains(listed("900", "<other>"), "900"));
  CHECK(contains(config_refusal({{"split_special_tokens", true}}), "split_special_tokens"));
  CHECK(contains(config_refusal({{"additional_special_tokens", 3}}), "additional_special_tokens"));
  CHECK(contains(refusal({{"added", {{"<tool>", 2}}}}), "accepted"));  // tokenizer.json's 2 wins
  CHECK(contains(refusal({{"added", {{"<tool>", 7}}}}), "<tool>"));
  CHECK(contains(refusal({{"added", {{"<tool>", "x"}}}}), "<tool>"));
  CHECK(contains(refusal({{"map", Json::array()}}), "special_tokens_map.json"));
}

TEST_CASE("side files cut short or damaged are refused or read, and never crash") {
  const std::string config =
      Json{{"bos_token", "<|im_start|>"},
           {"additional_special_tokens", {"<a>"}},
           {"added_tokens_decoder", {{"2", {{"content", "<|im_end|>"}, {"special", true}}}}}}
          .dump();
  const std::string file = tiny_json().dump();
  const auto load = [&](const std::string& text) {
    load_tokenizer_json(file, "tiny", {.config = text});
  };
  for (size_t n = 0; n < config.size(); ++n) CHECK_THROWS_AS(load(config.substr(0, n)), Error);
  for (size_t at = 0; at < config.size(); ++at) {
    std::string damaged = config;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    try {
      load(damaged);
    } catch (const Error&) {
    }
  }
}

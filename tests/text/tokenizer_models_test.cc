// Small vocabularies of every kind of model against what Hugging Face's library gave for them
// (scripts/oracle/tokenizer_models_oracle.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

using namespace isobit;

namespace {

const Json& recorded() {
  static const Json json = parse_json(
      read_file(std::string(ISOBIT_SOURCE_DIR) + "/tests/text/fixtures/tokenizer_models.json"),
      "tokenizer_models.json");
  return json;
}

// The base with members replaced; those of "model" one level down.
Json patched(Json base, const Json& patch) {
  for (auto it = patch.begin(); it != patch.end(); ++it) {
    if (it.key() != "model") {
      base[it.key()] = *it;
      continue;
    }
    for (auto member = it->begin(); member != it->end(); ++member)
      base["model"][member.key()] = *member;
  }
  return base;
}

const Json& base_named(const std::string& name) {
  for (const Json& base : recorded()) {
    if (base.at("name") == name) return base.at("base");
  }
  FAIL("no base " << name);
  return recorded();
}

std::string refusal(const Json& tokenizer) {
  try {
    load_tokenizer_json(tokenizer.dump(), "small");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    return error.message();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string million_bytes_of(const std::string& unit) {
  std::string text;
  while (text.size() < 1'000'000) text += unit;
  return text;
}

void check_case(const Tokenizer& tokenizer, const Json& entry) {
  const auto text = entry[0].get<std::string>();
  CAPTURE(text);
  const auto ids = entry[1].get<std::vector<int32_t>>();
  CHECK(tokenizer.encode(text, AddSpecial::kNo) == ids);
  CHECK(tokenizer.encode(text, AddSpecial::kYes) == entry[2].get<std::vector<int32_t>>());
  const std::string bytes = tokenizer.decode(ids, SkipSpecial::kNo);
  const auto decoded = entry[3].get<std::string>();
  if (find_invalid_utf8(bytes)) {
    CHECK(contains(decoded, "\uFFFD"));  // which that library has in place of the bytes
  } else {
    CHECK(bytes == decoded);
  }
}

}  // namespace

TEST_CASE("every kind of model gives the ids and the text of Hugging Face") {
  size_t n_checked = 0;
  for (const Json& base : recorded()) {
    const std::string base_name = base.at("name");
    CAPTURE(base_name);
    std::map<std::string, Json> first;  // what a text that an entry does not list must give
    for (const Json& entry : base.at("entries")) {
      const std::string name = entry.at("name");
      CAPTURE(name);
      const Tokenizer tokenizer =
          load_tokenizer_json(patched(base.at("base"), entry.at("patch")).dump(), name);
      std::map<std::string, Json> cases = first;
      for (const Json& item : entry.at("cases")) cases[item[0].get<std::string>()] = item;
      if (first.empty()) first = cases;
      for (const auto& [text, item] : cases) check_case(tokenizer, item);
      n_checked += cases.size();
    }
  }
  CHECK(n_checked > 4000);
}

TEST_CASE("each configuration of a model has a digest of its own") {
  std::map<std::string, std::string> seen;
  for (const Json& base : recorded()) {
    for (const Json& entry : base.at("entries")) {
      const std::string name =
          base.at("name").get<std::string>() + ": " + entry.at("name").get<std::string>();
      const Json json = patched(base.at("base"), entry.at("patch"));
      const std::string digest = load_tokenizer_json(json.dump(), name).digest();
      CHECK(load_tokenizer_json(json.dump(3), name).digest() == digest);
      const auto [it, is_new] = seen.emplace(digest, name);
      CHECK_MESSAGE(is_new, name << " has the digest of " << it->second);
    }
  }
  CHECK(seen.size() > 40);
}

TEST_CASE("the digest sees every score") {
  Json json = base_named("unigram");
  const std::string digest = load_tokenizer_json(json.dump(), "unigram").digest();
  json["model"]["vocab"][9][1] = json["model"]["vocab"][9][1].get<double>() - 1e-9;
  CHECK(load_tokenizer_json(json.dump(), "unigram").digest() != digest);
}

TEST_CASE("a megabyte of one character takes no recursion and little time in any model") {
  for (const Json& base : recorded()) {
    for (const Json& entry : base.at("entries")) {
      const Tokenizer tokenizer =
          load_tokenizer_json(patched(base.at("base"), entry.at("patch")).dump(), "long");
      for (const char* unit : {"a", "\n"})
        CHECK_NOTHROW(tokenizer.encode(million_bytes_of(unit), AddSpecial::kNo));
    }
  }
}

TEST_CASE("models that contradict themselves are refused") {
  const auto changed = [](const char* base, const char* member, const Json& value) {
    return refusal(patched(base_named(base), {{"model", {{member, value}}}}));
  };
  CHECK(contains(changed("unigram", "vocab", Json::array()), "empty"));
  CHECK(contains(
      changed("unigram", "vocab", Json::array({Json::array({"a", 1.0}), Json::array({"a", 2.0})})),
      "both spelled"));
  CHECK(contains(
      changed("unigram", "vocab", Json::array({Json::array({"a", "b"}), Json::array({"c", 2.0})})),
      "vocab[0]"));
  CHECK(contains(
      changed("unigram", "vocab", Json::array({Json::array({"", 1.0}), Json::array({"c", 2.0})})),
      "empty string"));
  CHECK(contains(changed("unigram", "unk_id", 1 << 20), "unk_id"));
  CHECK(contains(changed("unigram", "novelty", 1), "\"novelty\""));
  CHECK(contains(changed("word piece", "unk_token", "[NONE]"), "unk_token"));
  CHECK(contains(changed("word piece", "max_input_chars_per_word", -1), "max_input_chars"));
  CHECK(contains(changed("fallback", "dropout", 0.5), "dropout"));
  CHECK(contains(changed("fallback", "unk_token", "<none>"), "unk_token"));
  const auto member = [](const char* key, const Json& value) {
    return refusal(patched(base_named("fallback"), {{key, value}}));
  };
  CHECK(contains(member("normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}}),
                 "base64"));
  CHECK(contains(member("normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}}),
                 "charsmap"));
  CHECK(contains(member("pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "ab"}}),
                 "one character"));
  CHECK(contains(member("pre_tokenizer", {{"type", "Metaspace"}, {"prepend_scheme", "last"}}),
                 "\"last\""));
  CHECK(contains(member("decoder", {{"type", "Sequence"},
                                    {"decoders", {{{"type", "Fuse"}}, {{"type", "ByteLevel"}}}}}),
                 "after Fuse"));
}

TEST_CASE("a word that is not in a vocabulary without an unknown token is the text's fault") {
  Json json = patched(base_named("word level"), {{"model", {{"unk_token", "<none>"}}}});
  const Tokenizer words = load_tokenizer_json(json.dump(), "words");
  CHECK_THROWS_WITH_AS(words.encode("xyzzy", AddSpecial::kNo), doctest::Contains("xyzzy"), Error);
  json = patched(base_named("unigram"), {{"model", {{"unk_id", nullptr}}}});
  const Tokenizer unigram = load_tokenizer_json(json.dump(), "unigram");
  CHECK_THROWS_WITH_AS(unigram.encode("\u4ECA", AddSpecial::kNo),
                       doctest::Contains("no unknown token"), Error);
}

TEST_CASE("a damaged character map is refused or read, never read past its end") {
  Json normalizer;
  for (const Json& base : recorded()) {
    for (const Json& entry : base.at("entries")) {
      if (entry.at("name") == "charsmap") normalizer = entry.at("patch").at("normalizer");
    }
  }
  const auto blob = normalizer["normalizers"][0]["precompiled_charsmap"].get<std::string>();
  REQUIRE(blob.size() > 100);
  const auto attempt = [&](const std::string& damaged) {
    normalizer["normalizers"][0]["precompiled_charsmap"] = damaged;
    const Json json = patched(base_named("unigram"), {{"normalizer", normalizer}});
    try {
      load_tokenizer_json(json.dump(), "charsmap")
          .encode("caf\u00E9 \uFB01sh \u1112\u1161\u11AB \uFF21", AddSpecial::kNo);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::environment);
    }
  };
  const size_t step = std::max<size_t>(4, blob.size() / 200 / 4 * 4);
  for (size_t n = 0; n < blob.size(); n += step) attempt(blob.substr(0, n));
  for (size_t at = 0; at < blob.size(); at += step / 4) {
    std::string flipped = blob;
    flipped[at] = flipped[at] == 'A' ? '/' : 'A';
    attempt(flipped);
  }
}

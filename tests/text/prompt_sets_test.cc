#include "text/prompt_sets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/error.h"
#include "text/prompt_writer.h"
#include "text/unicode.h"

using namespace isobit;

namespace {

std::string text_of(const PromptRecord& record) {
  return record.prompt ? *record.prompt : record.messages.at(0).at("content").get<std::string>();
}

std::string digest_of(const std::string& name) {
  Sha256 sha;
  for (const PromptRecord& record : builtin_prompt_set(name))
    sha.update_framed(to_json(record).dump());
  return hex(sha.finish());
}

}  // namespace

TEST_CASE("built-in sets have the sizes and forms they promise") {
  CHECK(builtin_prompt_set("smoke").size() == 8);
  CHECK(builtin_prompt_set("standard").size() == 64);
  CHECK(builtin_prompt_set("edge").size() > 40);
  for (const std::string& name : builtin_prompt_set_names()) {
    std::set<std::string> ids;
    std::set<std::string> texts;
    for (const PromptRecord& record : builtin_prompt_set(name)) {
      CAPTURE(record.id);
      CHECK(ids.insert(record.id).second);
      CHECK(texts.insert(text_of(record)).second);
      CHECK_FALSE(find_invalid_utf8(text_of(record)));
      const bool may_hold_braces = record.tags.at(0) == "code" || name == "edge";
      CHECK((may_hold_braces ||
             text_of(record).find('{') == std::string::npos));  // no slot left unfilled
      CHECK(to_json(parse_prompt_record(to_json(record), "again", "x")) == to_json(record));
    }
  }
}

TEST_CASE("built-in sets are the same text on every machine") {
  CHECK(digest_of("smoke") == "963886fab03fd07c4af610954eb9b6a44c20c2a091e7c95f878695b3c871a3f6");
  CHECK(digest_of("standard") ==
        "913a532a0b1faa7faaef4f051c65d3000695ae7632e04e90cc8a620149c9f1ad");
  CHECK(digest_of("edge") == "d14a24dd965ffb865df4837b46ef7c38b4b9edf4990c8fdc1906b4487037d460");
}

TEST_CASE("every kind of prompt comes in every length of the standard set") {
  std::map<std::string, std::vector<size_t>> lengths;
  for (const PromptRecord& record : builtin_prompt_set("standard")) {
    lengths[record.tags.at(0)].push_back(estimate_tokens(text_of(record)));
  }
  CHECK(lengths.size() == 8);
  for (const auto& [kind, tokens] : lengths) {
    CAPTURE(kind);
    CHECK(tokens.size() == 8);
    CHECK(*std::min_element(tokens.begin(), tokens.end()) < 20);
    CHECK(*std::max_element(tokens.begin(), tokens.end()) > 150);
  }
}

TEST_CASE("an unknown set is refused with the nearest name") {
  try {
    builtin_prompt_set("standart");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    CHECK(error.message().find("did you mean 'standard'") != std::string::npos);
  }
  CHECK_THROWS_AS(builtin_prompt_set(""), Error);
}

TEST_CASE("fillers depend on seed and length only, and come near the length") {
  std::set<std::string> texts;
  for (const size_t n_words : {1, 5, 12, 30, 60, 200, 1000, 4000}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::string text = filler_prompt(seed, n_words);
      CHECK(text == filler_prompt(seed, n_words));
      CHECK_FALSE(text.empty());
      if (n_words < 30) continue;
      texts.insert(text);
      const size_t n_tokens = estimate_tokens(text);
      CHECK_MESSAGE(n_tokens > n_words * 3 / 4,
                    n_words << " words, seed " << seed << ": " << n_tokens);
      CHECK_MESSAGE(n_tokens < n_words * 2 + 60,
                    n_words << " words, seed " << seed << ": " << n_tokens);
    }
  }
  CHECK(texts.size() > 90);
}

// tokenizer.json, and after NUL bytes each: tokenizer_config.json, a text to encode,
// special_tokens_map.json, added_tokens.json.
#include "text/tokenizer.h"

#include "base/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

// A JSON document's values, the model built from it, and the tables of its regexes.
const size_t kAllowanceBytes = 8 * kMiB;

namespace {

constexpr std::string_view kText = "Hello, world 123!\n \xC3\xA9\xE6\xBC\xA2\xF0\x9F\x99\x82</s>";

// What a tokenizer that loads owes to every text.
void use(const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<int32_t> ids = tokenizer.encode(text, AddSpecial::kYes);
  for (const int32_t id : ids) {
    expect(id >= 0 && id < tokenizer.vocab_size(), "an id outside the vocabulary");
    (void)tokenizer.token_bytes(id);
  }
  (void)tokenizer.decode(ids, SkipSpecial::kNo);
  expect(tokenizer.encode(text, AddSpecial::kYes) == ids, "other ids the second time");
}

}  // namespace

void read_hostile(std::string_view input) {
  const std::vector<std::string_view> parts = parts_of(input, 5);
  const auto part = [&](size_t i) {
    return i < parts.size() && !parts[i].empty() ? std::optional<std::string>(parts[i])
                                                 : std::nullopt;
  };
  const Tokenizer tokenizer = load_tokenizer_json(
      parts[0], "f", {.config = part(1), .special_tokens_map = part(3), .added_tokens = part(4)});
  (void)tokenizer.steps();
  use(tokenizer, kText);
  if (parts.size() > 2) use(tokenizer, parts[2]);
}

}  // namespace isobit::test

// Characters that PCRE2's tables do not know: classes as `tokenizers` has them.
#include "text/unicode_newer.h"

#include <doctest/doctest.h>

#include "text/regex_dialect.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

using namespace isobit;

namespace {

size_t first_match_end(const char* pattern, std::string_view text) {
  RegexScratch scratch;
  const OnigurumaRegex regex(pattern, "test");
  const auto match = regex.for_text(text).find(text, 0, scratch);
  return match && match->begin == 0 ? match->end : 0;
}

}  // namespace

TEST_CASE("an ideograph of Unicode 15.1 is a letter, and Han, in every place of a pattern") {
  const std::string text = "\U0002EC68a!";  // CJK extension I
  REQUIRE(has_newer_character(text));
  for (const char* pattern :
       {"\\p{L}+", "\\p{Lo}\\p{Ll}", "[\\p{L}\\p{N}]+", "\\w+", "[^\\P{L}]*\\p{Han}a", "\\p{Han}a",
        "[^!]+", "[^\\s\\p{N}!]+", "(?i:\\p{L})a"}) {
    CAPTURE(pattern);
    CHECK(first_match_end(pattern, text) == 5);
  }
  for (const char* pattern : {"\\P{L}", "\\p{^L}", "[^\\p{L}]", " ?[^\\s\\p{L}\\p{N}]+", "\\W"}) {
    CAPTURE(pattern);
    CHECK(first_match_end(pattern, text) == 0);
  }
}

TEST_CASE("texts without such characters are matched by the usual tables") {
  for (const char* text : {"", "river", "na\u00EFve \u4ECA \U0001F600", "\uE000\uFFFF"})
    CHECK_FALSE(has_newer_character(text));
  CHECK(first_match_end("\\p{L}+", "na\u00EFve") == 6);
}

TEST_CASE("digits of newer scripts are digits") {
  CHECK(is_numeric(0x10D40));  // Garay
  CHECK_FALSE(is_numeric(0x10D4A));
  CHECK(first_match_end("\\p{N}+", "\U00010D40\U00010D49") == 8);
  CHECK(newer_members("Klingon").empty());
}

TEST_CASE("normal forms leave characters alone that their library does not know") {
  // Nag Mundari's mark (Unicode 15, class 220) neither moves before U+0301 nor lets it through.
  for (const char* text : {"a\u0323\U0001E4EE\u0301", "a\U0001E4EE\u0301", "\U00011935\U00011930"})
    CHECK(to_unicode_form(text, UnicodeForm::kNfc) ==
          (std::string(text).starts_with("a\u0323") ? "\u1EA1\U0001E4EE\u0301" : text));
  CHECK(to_unicode_form("q\u0301\u0323", UnicodeForm::kNfc) == "q\u0323\u0301");
  CHECK(to_unicode_form("\u32FF", UnicodeForm::kNfkc) == "\u32FF");  // the era Reiwa, Unicode 12.1
  CHECK(to_unicode_form("\u337B", UnicodeForm::kNfkc) == "\u5E73\u6210");
}

TEST_CASE("old tables do not know newer marks") {
  CHECK(is_nonspacing_mark(0x301));
  CHECK_FALSE(is_nonspacing_mark(0x1E4EE));
  CHECK_FALSE(is_mark(0x1E4EE));
}

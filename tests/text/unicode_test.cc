#include "text/unicode.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "text/byte_level.h"

using namespace isobit;

TEST_CASE("every code point survives writing and reading, and only code points are well formed") {
  for (uint32_t c = 0; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 37) {
    std::string text;
    append_utf8(text, c);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    REQUIRE_MESSAGE(find_invalid_utf8(text).has_value() == surrogate, "U+" << c);
    if (surrogate) continue;
    REQUIRE(code_point_at(text, 0).value == c);
    REQUIRE(code_point_at(text, 0).n_bytes == text.size());
    REQUIRE(code_point_before("x" + text, 1 + text.size()).value == c);
  }
}

TEST_CASE("the first wrong byte is named wherever it stands") {
  for (size_t before = 0; before < 20; ++before) {
    const std::string text = std::string(before, 'a') + "\x80" + "bcdefghij";
    CHECK(find_invalid_utf8(text) == before);
  }
  CHECK(find_invalid_utf8("\xC1\xBF") == 0);
  CHECK(find_invalid_utf8("\xE0\x9F\xBF") == 0);
  CHECK(find_invalid_utf8("\xF0\x8F\xBF\xBF") == 0);
  CHECK(find_invalid_utf8("ab\xF4\x90\x80\x80") == 2);
  CHECK_FALSE(find_invalid_utf8(""));
}

TEST_CASE("the byte alphabet is one character for each byte and back") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const std::string spelled = to_byte_level(bytes);
  CHECK_FALSE(find_invalid_utf8(spelled));
  CHECK(from_byte_level(spelled) == bytes);
  CHECK(to_byte_level(" \n!") == "\u0120\u010A!");
  CHECK(byte_level_character(0xAD) == 0x143);
  CHECK_FALSE(from_byte_level("a b"));  // a space is not in the alphabet
  CHECK_FALSE(from_byte_level("\u0144"));
  CHECK_FALSE(from_byte_level("\xFF"));
}

TEST_CASE("character classes are those of the tokenizers library") {
  for (const uint32_t c : {0x09u, 0x0Du, 0x20u, 0x85u, 0xA0u, 0x1680u, 0x2000u, 0x200Au, 0x2028u,
                           0x202Fu, 0x205Fu, 0x3000u}) {
    CHECK_MESSAGE(is_white_space(c), c);
  }
  for (const uint32_t c : {0x1Cu, 0x180Eu, 0x200Bu, 0xFEFFu, 0x41u})
    CHECK_FALSE_MESSAGE(is_white_space(c), c);
  for (const uint32_t c : {0x30u, 0xBDu, 0x2167u, 0x663u, 0x3007u}) CHECK_MESSAGE(is_numeric(c), c);
  for (const uint32_t c : {0x41u, 0x4E00u, 0x2Eu}) CHECK_FALSE_MESSAGE(is_numeric(c), c);
  for (const uint32_t c : {0x41u, 0x5Fu, 0x301u, 0x203Fu, 0x24B6u, 0x200Du, 0x2167u})
    CHECK_MESSAGE(is_word_character(c), c);
  for (const uint32_t c : {0x20u, 0x2Du, 0xBDu, 0x1F642u})
    CHECK_FALSE_MESSAGE(is_word_character(c), c);
}

TEST_CASE("composition follows Unicode") {
  CHECK(to_unicode_form("plain", UnicodeForm::kNfc) == "plain");
  CHECK(to_unicode_form("cafe\u0301", UnicodeForm::kNfc) == "caf\u00E9");
  CHECK(to_unicode_form("\u1112\u1161\u11AB", UnicodeForm::kNfc) == "\uD55C");
  CHECK(to_unicode_form("\u212B", UnicodeForm::kNfc) == "\u00C5");  // a singleton
  CHECK(to_unicode_form("a\u0302\u0323", UnicodeForm::kNfc) ==
        "\u1EAD");  // reordered, then composed
  CHECK(to_unicode_form("\u0958", UnicodeForm::kNfc) ==
        "\u0915\u093C");  // excluded from composition
  CHECK(to_unicode_form(std::string("a\0e\u0301", 5), UnicodeForm::kNfc) ==
        std::string("a\0\u00E9", 4));
  CHECK(to_unicode_form("", UnicodeForm::kNfc).empty());
}

TEST_CASE("the libraries that decide where text is split say their versions") {
  CHECK(text_library_versions().starts_with("PCRE2 10."));
  CHECK(text_library_versions().find("utf8proc ") != std::string::npos);
}

// UTF-8 and the few character classes that tokenizers are defined by.
//
// The classes are those of the Hugging Face `tokenizers` library, which uses Rust's: White_Space,
// `char::is_numeric` (Nd, Nl, No) and the regex class \w (Unicode Technical Standard 18, annex C).
// Code point tables come from utf8proc; where that library's own are older (punctuation, marks and
// control characters of its normalizers), they are corrected to those (unicode_frozen.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace isobit {

// Byte offset of the first byte that is not part of well-formed UTF-8 (no overlong forms, no
// surrogates, at most U+10FFFF).
std::optional<size_t> find_invalid_utf8(std::string_view text);

// How many bytes at the start of `text` belong to a character that is cut short, 0 when the first
// byte begins none. REQUIRES: text is not empty and its first character is not well formed.
size_t truncated_character_bytes(std::string_view text);

// Throws Error(usage) naming `where`, the byte offset and the byte.
void require_utf8(std::string_view text, const std::string& where);

// REQUIRES: text is well-formed UTF-8 and at < text.size() is the start of a code point.
struct CodePoint {
  uint32_t value;
  size_t n_bytes;
};
CodePoint code_point_at(std::string_view text, size_t at);
// REQUIRES: end > 0. The code point that ends just before `end`.
CodePoint code_point_before(std::string_view text, size_t end);
void append_utf8(std::string& out, uint32_t code_point);

bool is_white_space(uint32_t code_point);
bool is_numeric(uint32_t code_point);
bool is_decimal_digit(uint32_t code_point);  // Nd
bool is_word_character(uint32_t code_point);
bool is_punctuation(uint32_t code_point);  // P*, and the ASCII symbols

bool is_mark(uint32_t code_point);              // M*
bool is_nonspacing_mark(uint32_t code_point);   // Mn
bool is_control_or_other(uint32_t code_point);  // Cc, Cf and Co

// The full lower-case mapping of one character, which no neighbour changes.
void append_lowercase(std::string& out, uint32_t code_point);

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };
// A Unicode normalization form. REQUIRES: text is well-formed UTF-8.
std::string to_unicode_form(std::string_view text, UnicodeForm form);

// Calls found(cluster) for each extended grapheme cluster, in order. REQUIRES: text is well-formed
// UTF-8.
void for_each_grapheme(std::string_view text, const std::function<void(std::string_view)>& found);

// "PCRE2 10.42 (Unicode 14.0.0), utf8proc 2.8.0": the libraries whose tables decide where text is
// split.
std::string text_library_versions();

}  // namespace isobit

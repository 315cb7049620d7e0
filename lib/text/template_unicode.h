// Text as Python's str sees it: a sequence of code points, stored here as UTF-8.
//
// Templates slice, strip, split, count and change the case of text. Python does all of that per
// code point with the Unicode character database, so bytes are never enough: `"é"|length` is 1, and
// a no-break space is stripped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isobit::jinja {

// The byte offset of the first ill-formed sequence (surrogates and overlong forms included), or
// npos.
size_t first_invalid_utf8(std::string_view text);

bool is_ascii(std::string_view text);

// Decodes the code point at `at`; `n_bytes` receives its length. REQUIRES: well-formed UTF-8, at <
// text.size().
uint32_t code_point_at(std::string_view text, size_t at, size_t& n_bytes);
void append_utf8(std::string& out, uint32_t code);
std::u32string to_code_points(std::string_view text);
std::string from_code_points(std::u32string_view codes);
size_t count_code_points(std::string_view text);
std::vector<std::string_view> split_into_code_points(std::string_view text);
// The byte offset of code point number `n`, or the size when there are fewer.
size_t byte_offset_of(std::string_view text, size_t n);

// Python's predicates of one code point.
bool is_space(uint32_t code);
bool is_line_break(uint32_t code);  // str.splitlines
bool is_printable(uint32_t code);   // str.isprintable, hence what repr() leaves as it is
bool is_alphabetic(uint32_t code);
bool is_decimal(uint32_t code);
bool is_digit(uint32_t code);
bool is_numeric(uint32_t code);
bool is_upper(uint32_t code);
bool is_lower(uint32_t code);
bool is_title(uint32_t code);
bool is_cased(uint32_t code);
bool is_name_part(uint32_t code);  // what \w and Python identifiers accept

// Full case mappings (one code point may become three), with Python's rule for a final sigma.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string capitalized(std::string_view text);  // str.capitalize
std::string title_cased(std::string_view text);  // str.title
std::string case_swapped(std::string_view text);
std::string case_folded(std::string_view text);

std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
// As str.strip(chars): `chars` is a set of code points.
std::string_view strip_left(std::string_view text, std::string_view chars);
std::string_view strip_right(std::string_view text, std::string_view chars);
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

}  // namespace isobit::jinja

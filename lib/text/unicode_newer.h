// Characters that are newer than the tables of PCRE2 and utf8proc, with the classes that Hugging
// Face's `tokenizers` gives them: its own tables are of Unicode 16, Debian 12's PCRE2 of
// Unicode 14.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace isobit {

bool is_newer_character(uint32_t code_point);

// Whether a text has any of them. REQUIRES: text is well-formed UTF-8.
bool has_newer_character(std::string_view text);

// "\x{2EBF0}-\x{2EE5D}...", ready to stand inside a class: those of a general category ("Lo"), of a
// group of them ("L") or of the script "Han"; "" for other names.
std::string newer_members(std::string_view property);

bool is_newer_numeric(uint32_t code_point);

}  // namespace isobit

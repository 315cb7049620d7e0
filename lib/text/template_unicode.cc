#include "text/template_unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace isobit::jinja {
namespace {

utf8proc_category_t category(uint32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

size_t sequence_length(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

}  // namespace

size_t first_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t code = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t n =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (n <= 0 || code < 0) return at;
    at += static_cast<size_t>(n);
  }
  return std::string_view::npos;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

uint32_t code_point_at(std::string_view text, size_t at, size_t& n_bytes) {
  const auto lead = static_cast<unsigned char>(text[at]);
  n_bytes = std::min(sequence_length(lead), text.size() - at);
  if (n_bytes == 1) return lead;
  uint32_t code = lead & (0x7Fu >> n_bytes);
  for (size_t k = 1; k < n_bytes; ++k) {
    code = code << 6 | (static_cast<unsigned char>(text[at + k]) & 63u);
  }
  return code;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 63));
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

std::u32string to_code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t at = 0, n = 0; at < text.size(); at += n) out += code_point_at(text, at, n);
  return out;
}

std::string from_code_points(std::u32string_view codes) {
  std::string out;
  out.reserve(codes.size());
  for (const char32_t code : codes) append_utf8(out, code);
  return out;
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::string_view> split_into_code_points(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < text.size();) {
    const size_t n =
        std::min(sequence_length(static_cast<unsigned char>(text[at])), text.size() - at);
    out.push_back(text.substr(at, n));
    at += n;
  }
  return out;
}

size_t byte_offset_of(std::string_view text, size_t n) {
  size_t at = 0;
  for (; n > 0 && at < text.size(); --n)
    at += sequence_length(static_cast<unsigned char>(text[at]));
  return std::min(at, text.size());
}

bool is_space(uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 ||
         code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_line_break(uint32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

bool is_printable(uint32_t code) {
  if (code < 0x7F) return code >= 0x20;
  switch (category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return false;
    default:
      return true;
  }
}

bool is_alphabetic(uint32_t code) {
  const auto c = category(code);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(uint32_t code) {
  return is_decimal(code) || code == 0xB2 || code == 0xB3 || code == 0xB9 || code == 0x2070 ||
         (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089) ||
         (code >= 0x2460 && code <= 0x2468) || (code >= 0x2474 && code <= 0x247C) ||
         (code >= 0x2488 && code <= 0x2490);
}

bool is_numeric(uint32_t code) {
  const auto c = category(code);
  return c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO;
}

namespace {

struct CodeRange {
  uint32_t first, last;
};

// Unicode's Other_Lowercase and Other_Uppercase: letters and symbols that have a case without being
// in the categories Ll and Lu (derived from the Unicode data, version 14).
constexpr CodeRange kOtherLower[] = {
    {0xAA, 0xAA},       {0xBA, 0xBA},       {0x2B0, 0x2B8},     {0x2C0, 0x2C1},    {0x2E0, 0x2E4},
    {0x345, 0x345},     {0x37A, 0x37A},     {0x1D2C, 0x1D6A},   {0x1D78, 0x1D78},  {0x1D9B, 0x1DBF},
    {0x2071, 0x2071},   {0x207F, 0x207F},   {0x2090, 0x209C},   {0x2170, 0x217F},  {0x24D0, 0x24E9},
    {0x2C7C, 0x2C7D},   {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F8, 0xA7F9},  {0xAB5C, 0xAB5F},
    {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA}};
constexpr CodeRange kOtherUpper[] = {
    {0x2160, 0x216F}, {0x24B6, 0x24CF}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

template <size_t n>
bool is_in(const CodeRange (&ranges)[n], uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](const CodeRange& r) { return r.first <= code && code <= r.last; });
}

}  // namespace

bool is_upper(uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LU || (code > 0x7F && is_in(kOtherUpper, code));
}

bool is_lower(uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LL || (code > 0x7F && is_in(kOtherLower, code));
}

bool is_title(uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LT;
}
bool is_cased(uint32_t code) {
  return is_upper(code) || is_lower(code) || is_title(code);
}

bool is_name_part(uint32_t code) {
  if (code < 0x80) {
    return (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
           (code >= 'A' && code <= 'Z') || code == '_';
  }
  const auto c = category(code);
  return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_MC) || is_numeric(code) ||
         c == UTF8PROC_CATEGORY_PC;
}

std::string_view strip_left(std::string_view text) {
  size_t n = 0;
  while (!text.empty() && is_space(code_point_at(text, 0, n))) text.remove_prefix(n);
  return text;
}

namespace {

uint32_t last_code_point(std::string_view text, size_t& n_bytes) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xC0) == 0x80) --at;
  const uint32_t code = code_point_at(text, at, n_bytes);
  n_bytes = text.size() - at;
  return code;
}

}  // namespace

std::string_view strip_right(std::string_view text) {
  size_t n = 0;
  while (!text.empty() && is_space(last_code_point(text, n))) text.remove_suffix(n);
  return text;
}

std::string_view strip_left(std::string_view text, std::string_view chars) {
  const std::u32string set = to_code_points(chars);
  size_t n = 0;
  while (!text.empty() && set.find(code_point_at(text, 0, n)) != set.npos) text.remove_prefix(n);
  return text;
}

std::string_view strip_right(std::string_view text, std::string_view chars) {
  const std::u32string set = to_code_points(chars);
  size_t n = 0;
  while (!text.empty() && set.find(last_code_point(text, n)) != set.npos) text.remove_suffix(n);
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> out;
  size_t start = 0;
  for (size_t at = 0, n = 0; at < text.size(); at += n) {
    const uint32_t code = code_point_at(text, at, n);
    if (!is_line_break(code)) continue;
    if (code == '\r' && at + 1 < text.size() && text[at + 1] == '\n') n = 2;
    out.push_back(text.substr(start, (keep_ends ? at + n : at) - start));
    start = at + n;
  }
  if (start < text.size()) out.push_back(text.substr(start));
  return out;
}

}  // namespace isobit::jinja

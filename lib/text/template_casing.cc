// Case mappings of whole strings. utf8proc maps one code point to one; Unicode's SpecialCasing.txt
// has about a hundred that become two or three, listed here (derived from the Unicode data, version
// 14), and lower case has one rule that looks at the neighbours: a capital sigma at the end of a
// word.
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

struct Expansion {
  uint32_t code;
  const char* upper;
  const char* title;
};

// Sorted by code point.
constexpr Expansion kExpansions[] = {
    {0x00DF, "SS", "Ss"},
    {0x0149, "\xCA\xBCN", "\xCA\xBCN"},
    {0x01F0, "J\xCC\x8C", "J\xCC\x8C"},
    {0x0390, "\xCE\x99\xCC\x88\xCC\x81", "\xCE\x99\xCC\x88\xCC\x81"},
    {0x03B0, "\xCE\xA5\xCC\x88\xCC\x81", "\xCE\xA5\xCC\x88\xCC\x81"},
    {0x0587, "\xD4\xB5\xD5\x92", "\xD4\xB5\xD6\x82"},
    {0x1E96, "H\xCC\xB1", "H\xCC\xB1"},
    {0x1E97, "T\xCC\x88", "T\xCC\x88"},
    {0x1E98, "W\xCC\x8A", "W\xCC\x8A"},
    {0x1E99, "Y\xCC\x8A", "Y\xCC\x8A"},
    {0x1E9A, "A\xCA\xBE", "A\xCA\xBE"},
    {0x1F50, "\xCE\xA5\xCC\x93", "\xCE\xA5\xCC\x93"},
    {0x1F52, "\xCE\xA5\xCC\x93\xCC\x80", "\xCE\xA5\xCC\x93\xCC\x80"},
    {0x1F54, "\xCE\xA5\xCC\x93\xCC\x81", "\xCE\xA5\xCC\x93\xCC\x81"},
    {0x1F56, "\xCE\xA5\xCC\x93\xCD\x82", "\xCE\xA5\xCC\x93\xCD\x82"},
    {0x1F80, "\xE1\xBC\x88\xCE\x99", "\xE1\xBE\x88"},
    {0x1F81, "\xE1\xBC\x89\xCE\x99", "\xE1\xBE\x89"},
    {0x1F82, "\xE1\xBC\x8A\xCE\x99", "\xE1\xBE\x8A"},
    {0x1F83, "\xE1\xBC\x8B\xCE\x99", "\xE1\xBE\x8B"},
    {0x1F84, "\xE1\xBC\x8C\xCE\x99", "\xE1\xBE\x8C"},
    {0x1F85, "\xE1\xBC\x8D\xCE\x99", "\xE1\xBE\x8D"},
    {0x1F86, "\xE1\xBC\x8E\xCE\x99", "\xE1\xBE\x8E"},
    {0x1F87, "\xE1\xBC\x8F\xCE\x99", "\xE1\xBE\x8F"},
    {0x1F88, "\xE1\xBC\x88\xCE\x99", "\xE1\xBE\x88"},
    {0x1F89, "\xE1\xBC\x89\xCE\x99", "\xE1\xBE\x89"},
    {0x1F8A, "\xE1\xBC\x8A\xCE\x99", "\xE1\xBE\x8A"},
    {0x1F8B, "\xE1\xBC\x8B\xCE\x99", "\xE1\xBE\x8B"},
    {0x1F8C, "\xE1\xBC\x8C\xCE\x99", "\xE1\xBE\x8C"},
    {0x1F8D, "\xE1\xBC\x8D\xCE\x99", "\xE1\xBE\x8D"},
    {0x1F8E, "\xE1\xBC\x8E\xCE\x99", "\xE1\xBE\x8E"},
    {0x1F8F, "\xE1\xBC\x8F\xCE\x99", "\xE1\xBE\x8F"},
    {0x1F90, "\xE1\xBC\xA8\xCE\x99", "\xE1\xBE\x98"},
    {0x1F91, "\xE1\xBC\xA9\xCE\x99", "\xE1\xBE\x99"},
    {0x1F92, "\xE1\xBC\xAA\xCE\x99", "\xE1\xBE\x9A"},
    {0x1F93, "\xE1\xBC\xAB\xCE\x99", "\xE1\xBE\x9B"},
    {0x1F94, "\xE1\xBC\xAC\xCE\x99", "\xE1\xBE\x9C"},
    {0x1F95, "\xE1\xBC\xAD\xCE\x99", "\xE1\xBE\x9D"},
    {0x1F96, "\xE1\xBC\xAE\xCE\x99", "\xE1\xBE\x9E"},
    {0x1F97, "\xE1\xBC\xAF\xCE\x99", "\xE1\xBE\x9F"},
    {0x1F98, "\xE1\xBC\xA8\xCE\x99", "\xE1\xBE\x98"},
    {0x1F99, "\xE1\xBC\xA9\xCE\x99", "\xE1\xBE\x99"},
    {0x1F9A, "\xE1\xBC\xAA\xCE\x99", "\xE1\xBE\x9A"},
    {0x1F9B, "\xE1\xBC\xAB\xCE\x99", "\xE1\xBE\x9B"},
    {0x1F9C, "\xE1\xBC\xAC\xCE\x99", "\xE1\xBE\x9C"},
    {0x1F9D, "\xE1\xBC\xAD\xCE\x99", "\xE1\xBE\x9D"},
    {0x1F9E, "\xE1\xBC\xAE\xCE\x99", "\xE1\xBE\x9E"},
    {0x1F9F, "\xE1\xBC\xAF\xCE\x99", "\xE1\xBE\x9F"},
    {0x1FA0, "\xE1\xBD\xA8\xCE\x99", "\xE1\xBE\xA8"},
    {0x1FA1, "\xE1\xBD\xA9\xCE\x99", "\xE1\xBE\xA9"},
    {0x1FA2, "\xE1\xBD\xAA\xCE\x99", "\xE1\xBE\xAA"},
    {0x1FA3, "\xE1\xBD\xAB\xCE\x99", "\xE1\xBE\xAB"},
    {0x1FA4, "\xE1\xBD\xAC\xCE\x99", "\xE1\xBE\xAC"},
    {0x1FA5, "\xE1\xBD\xAD\xCE\x99", "\xE1\xBE\xAD"},
    {0x1FA6, "\xE1\xBD\xAE\xCE\x99", "\xE1\xBE\xAE"},
    {0x1FA7, "\xE1\xBD\xAF\xCE\x99", "\xE1\xBE\xAF"},
    {0x1FA8, "\xE1\xBD\xA8\xCE\x99", "\xE1\xBE\xA8"},
    {0x1FA9, "\xE1\xBD\xA9\xCE\x99", "\xE1\xBE\xA9"},
    {0x1FAA, "\xE1\xBD\xAA\xCE\x99", "\xE1\xBE\xAA"},
    {0x1FAB, "\xE1\xBD\xAB\xCE\x99", "\xE1\xBE\xAB"},
    {0x1FAC, "\xE1\xBD\xAC\xCE\x99", "\xE1\xBE\xAC"},
    {0x1FAD, "\xE1\xBD\xAD\xCE\x99", "\xE1\xBE\xAD"},
    {0x1FAE, "\xE1\xBD\xAE\xCE\x99", "\xE1\xBE\xAE"},
    {0x1FAF, "\xE1\xBD\xAF\xCE\x99", "\xE1\xBE\xAF"},
    {0x1FB2, "\xE1\xBE\xBA\xCE\x99", "\xE1\xBE\xBA\xCD\x85"},
    {0x1FB3, "\xCE\x91\xCE\x99", "\xE1\xBE\xBC"},
    {0x1FB4, "\xCE\x86\xCE\x99", "\xCE\x86\xCD\x85"},
    {0x1FB6, "\xCE\x91\xCD\x82", "\xCE\x91\xCD\x82"},
    {0x1FB7, "\xCE\x91\xCD\x82\xCE\x99", "\xCE\x91\xCD\x82\xCD\x85"},
    {0x1FBC, "\xCE\x91\xCE\x99", "\xE1\xBE\xBC"},
    {0x1FC2, "\xE1\xBF\x8A\xCE\x99", "\xE1\xBF\x8A\xCD\x85"},
    {0x1FC3, "\xCE\x97\xCE\x99", "\xE1\xBF\x8C"},
    {0x1FC4, "\xCE\x89\xCE\x99", "\xCE\x89\xCD\x85"},
    {0x1FC6, "\xCE\x97\xCD\x82", "\xCE\x97\xCD\x82"},
    {0x1FC7, "\xCE\x97\xCD\x82\xCE\x99", "\xCE\x97\xCD\x82\xCD\x85"},
    {0x1FCC, "\xCE\x97\xCE\x99", "\xE1\xBF\x8C"},
    {0x1FD2, "\xCE\x99\xCC\x88\xCC\x80", "\xCE\x99\xCC\x88\xCC\x80"},
    {0x1FD3, "\xCE\x99\xCC\x88\xCC\x81", "\xCE\x99\xCC\x88\xCC\x81"},
    {0x1FD6, "\xCE\x99\xCD\x82", "\xCE\x99\xCD\x82"},
    {0x1FD7, "\xCE\x99\xCC\x88\xCD\x82", "\xCE\x99\xCC\x88\xCD\x82"},
    {0x1FE2, "\xCE\xA5\xCC\x88\xCC\x80", "\xCE\xA5\xCC\x88\xCC\x80"},
    {0x1FE3, "\xCE\xA5\xCC\x88\xCC\x81", "\xCE\xA5\xCC\x88\xCC\x81"},
    {0x1FE4, "\xCE\xA1\xCC\x93", "\xCE\xA1\xCC\x93"},
    {0x1FE6, "\xCE\xA5\xCD\x82", "\xCE\xA5\xCD\x82"},
    {0x1FE7, "\xCE\xA5\xCC\x88\xCD\x82", "\xCE\xA5\xCC\x88\xCD\x82"},
    {0x1FF2, "\xE1\xBF\xBA\xCE\x99", "\xE1\xBF\xBA\xCD\x85"},
    {0x1FF3, "\xCE\xA9\xCE\x99", "\xE1\xBF\xBC"},
    {0x1FF4, "\xCE\x8F\xCE\x99", "\xCE\x8F\xCD\x85"},
    {0x1FF6, "\xCE\xA9\xCD\x82", "\xCE\xA9\xCD\x82"},
    {0x1FF7, "\xCE\xA9\xCD\x82\xCE\x99", "\xCE\xA9\xCD\x82\xCD\x85"},
    {0x1FFC, "\xCE\xA9\xCE\x99", "\xE1\xBF\xBC"},
    {0xFB00, "FF", "Ff"},
    {0xFB01, "FI", "Fi"},
    {0xFB02, "FL", "Fl"},
    {0xFB03, "FFI", "Ffi"},
    {0xFB04, "FFL", "Ffl"},
    {0xFB05, "ST", "St"},
    {0xFB06, "ST", "St"},
    {0xFB13, "\xD5\x84\xD5\x86", "\xD5\x84\xD5\xB6"},
    {0xFB14, "\xD5\x84\xD4\xB5", "\xD5\x84\xD5\xA5"},
    {0xFB15, "\xD5\x84\xD4\xBB", "\xD5\x84\xD5\xAB"},
    {0xFB16, "\xD5\x8E\xD5\x86", "\xD5\x8E\xD5\xB6"},
    {0xFB17, "\xD5\x84\xD4\xBD", "\xD5\x84\xD5\xAD"},
};

const Expansion* expansion_of(uint32_t code) {
  const auto* at = std::lower_bound(std::begin(kExpansions), std::end(kExpansions), code,
                                    [](const Expansion& e, uint32_t c) { return e.code < c; });
  return at != std::end(kExpansions) && at->code == code ? at : nullptr;
}

void append_upper(std::string& out, uint32_t code) {
  if (const Expansion* e = expansion_of(code)) {
    out += e->upper;
  } else {
    append_utf8(out, static_cast<uint32_t>(utf8proc_toupper(static_cast<int32_t>(code))));
  }
}

void append_title(std::string& out, uint32_t code) {
  if (const Expansion* e = expansion_of(code)) {
    out += e->title;
  } else {
    append_utf8(out, static_cast<uint32_t>(utf8proc_totitle(static_cast<int32_t>(code))));
  }
}

bool is_case_ignorable(uint32_t code) {
  if (code == '\'' || code == '.' || code == ':' || code == 0xB7 || code == 0x2019 ||
      code == 0x2018)
    return true;
  switch (utf8proc_category(static_cast<int32_t>(code))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

bool is_final_sigma(const std::u32string& codes, size_t at) {
  size_t before = at;
  while (before > 0 && is_case_ignorable(codes[before - 1])) --before;
  if (before == 0 || !is_cased(codes[before - 1])) return false;
  size_t after = at + 1;
  while (after < codes.size() && is_case_ignorable(codes[after])) ++after;
  return after == codes.size() || !is_cased(codes[after]);
}

void append_lower(std::string& out, const std::u32string& codes, size_t at) {
  const uint32_t code = codes[at];
  if (code == 0x130) {
    out += "i\xCC\x87";
  } else if (code == 0x3A3) {
    append_utf8(out, is_final_sigma(codes, at) ? 0x3C2 : 0x3C3);
  } else {
    append_utf8(out, static_cast<uint32_t>(utf8proc_tolower(static_cast<int32_t>(code))));
  }
}

}  // namespace

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t code : to_code_points(text)) append_upper(out, code);
  return out;
}

std::string to_lower(std::string_view text) {
  const std::u32string codes = to_code_points(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < codes.size(); ++at) append_lower(out, codes, at);
  return out;
}

std::string capitalized(std::string_view text) {
  const std::u32string codes = to_code_points(text);
  std::string out;
  for (size_t at = 0; at < codes.size(); ++at) {
    if (at == 0) {
      append_title(out, codes[0]);
    } else {
      append_lower(out, codes, at);
    }
  }
  return out;
}

std::string title_cased(std::string_view text) {
  const std::u32string codes = to_code_points(text);
  std::string out;
  bool in_word = false;
  for (size_t at = 0; at < codes.size(); ++at) {
    if (in_word) {
      append_lower(out, codes, at);
    } else {
      append_title(out, codes[at]);
    }
    in_word = is_cased(codes[at]);
  }
  return out;
}

std::string case_swapped(std::string_view text) {
  const std::u32string codes = to_code_points(text);
  std::string out;
  for (size_t at = 0; at < codes.size(); ++at) {
    if (is_upper(codes[at])) {
      append_lower(out, codes, at);
    } else if (is_lower(codes[at])) {
      append_upper(out, codes[at]);
    } else {
      append_utf8(out, codes[at]);
    }
  }
  return out;
}

std::string case_folded(std::string_view text) {
  utf8proc_uint8_t* folded = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &folded, UTF8PROC_CASEFOLD);
  std::string out = n >= 0 ? std::string(reinterpret_cast<char*>(folded), static_cast<size_t>(n))
                           : std::string(text);
  std::free(folded);
  return out;
}

}  // namespace isobit::jinja

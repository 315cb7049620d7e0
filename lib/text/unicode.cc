#include "text/unicode.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "text/unicode_frozen.h"
#include "text/unicode_newer.h"

namespace isobit {
namespace {

// What a lead byte allows: how long the sequence is and the range of its second byte. Table 3-7 of
// the Unicode standard.
struct Lead {
  size_t length;  // 0: begins no sequence
  unsigned second_low = 0x80;
  unsigned second_high = 0xBF;
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

// Bytes at `p` that are right for the sequence that p[0] begins: its whole length when it is well
// formed.
size_t n_right_bytes(const unsigned char* p, size_t n_left, const Lead& lead) {
  size_t n = lead.length == 0 ? 0 : 1;
  while (n < lead.length && n < n_left) {
    const unsigned low = n == 1 ? lead.second_low : 0x80;
    const unsigned high = n == 1 ? lead.second_high : 0xBF;
    if (p[n] < low || p[n] > high) break;
    ++n;
  }
  return n;
}

std::string hex_byte(unsigned char byte) {
  static const char* digits = "0123456789abcdef";
  return std::string("0x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight;
    if (text.size() - at >= sizeof eight) {  // most text is ASCII
      std::memcpy(&eight, p + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const Lead lead = lead_of(p[at]);
    if (lead.length == 0 || n_right_bytes(p + at, text.size() - at, lead) < lead.length) return at;
    at += lead.length;
  }
  return std::nullopt;
}

size_t truncated_character_bytes(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  return n_right_bytes(p, text.size(), lead_of(p[0]));
}

void require_utf8(std::string_view text, const std::string& where) {
  const auto bad = find_invalid_utf8(text);
  if (!bad) return;
  throw Error(ErrorCode::usage,
              where + ": not valid UTF-8 at byte " + std::to_string(*bad) + " (" +
                  hex_byte(static_cast<unsigned char>(text[*bad])) + ")",
              "tokenizers are defined on Unicode text; convert the input to UTF-8");
}

CodePoint code_point_at(std::string_view text, size_t at) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + at;
  const unsigned lead = p[0];
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1Fu) << 6 | (p[1] & 0x3Fu), 2};
  if (lead < 0xF0) return {(lead & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3};
  return {(lead & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu), 4};
}

CodePoint code_point_before(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return code_point_at(text, at);
}

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

bool is_white_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_numeric(uint32_t c) {
  if (is_newer_numeric(c)) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

bool is_decimal_digit(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND;
}

// The tables of the normalizers are older than all that is newer than PCRE2's.
static bool is_frozen(const FrozenClass& frozen, uint32_t c, bool is_in_today) {
  return frozen.contains(c, is_in_today && !is_newer_character(c));
}

bool is_punctuation(uint32_t c) {
  if (c < 0x80)
    return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) ||
           (c >= 0x7B && c <= 0x7E);
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return is_frozen(frozen_punctuation(), c,
                   category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO);
}

bool is_word_character(uint32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      // The symbols among Other_Alphabetic, and Join_Control.
      return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189) || c == 0x200C ||
             c == 0x200D;
  }
}

bool is_nonspacing_mark(uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return is_frozen(frozen_nonspacing_mark(), c, category == UTF8PROC_CATEGORY_MN);
}

bool is_mark(uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return is_frozen(frozen_mark(), c,
                   category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
                       category == UTF8PROC_CATEGORY_ME);
}

bool is_control_or_other(uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return is_frozen(frozen_other(), c,
                   category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
                       category == UTF8PROC_CATEGORY_CO);
}

void append_lowercase(std::string& out, uint32_t c) {
  if (c == 0x130) {  // the one character whose lower case is two
    out += "i\u0307";
    return;
  }
  append_utf8(out, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

void for_each_grapheme(std::string_view text, const std::function<void(std::string_view)>& found) {
  utf8proc_int32_t state = 0;
  size_t begin = 0;
  uint32_t previous = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (at > 0 &&
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                         static_cast<utf8proc_int32_t>(c.value), &state)) {
      found(text.substr(begin, at - begin));
      begin = at;
    }
    previous = c.value;
    at += c.n_bytes;
  }
  if (begin < text.size()) found(text.substr(begin));
}

std::string text_library_versions() {
  char pcre2[64] = {};
  char unicode[64] = {};
  pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
  pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, unicode);
  const std::string version(pcre2);
  return "PCRE2 " + version.substr(0, version.find(' ')) + " (Unicode " + unicode + "), utf8proc " +
         utf8proc_version();
}

}  // namespace isobit

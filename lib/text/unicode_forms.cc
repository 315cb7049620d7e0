// Unicode normalization forms, in time n log n.
//
// utf8proc orders combining marks by swapping neighbours, which takes hours for a megabyte of marks
// in the wrong order. Its tables decompose one character at a time and compose a text; the marks
// between two are ordered here.
#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "text/unicode.h"
#include "text/unicode_frozen.h"
#include "text/unicode_newer.h"

namespace isobit {
namespace {

using CodePoints = std::vector<utf8proc_int32_t>;

constexpr size_t kMaxDecomposed = 32;  // U+FDFA, the longest, has 18

utf8proc_propval_t combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

void append_decomposed(uint32_t c, utf8proc_option_t options, CodePoints& out) {
  utf8proc_int32_t parts[kMaxDecomposed];
  int boundary = UTF8PROC_BOUNDCLASS_START;
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, kMaxDecomposed,
                                         options, &boundary);
  if (n < 0 || static_cast<size_t>(n) > kMaxDecomposed) {
    throw Error(ErrorCode::environment,
                "normalising text failed: " + std::string(utf8proc_errmsg(n < 0 ? n : 0)));
  }
  out.insert(out.end(), parts, parts + n);
}

// Hugging Face's tables are of Unicode 9: what came later stands where it is and parts its
// neighbours.
bool is_unknown(uint32_t c) {
  return c >= 0x300 && (!frozen_normalization().contains(c, true) || is_newer_character(c));
}

// Runs of marks by class, those of one class as they stood (Unicode standard, D109).
void order_marks(CodePoints& text) {
  for (auto begin = text.begin(); begin != text.end();) {
    if (combining_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end =
        std::find_if(begin, text.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end,
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

// Appends what was decomposed, ordered and, when `options` say so, composed; and forgets it.
void append_composed(CodePoints& points, utf8proc_option_t options, std::string& out) {
  order_marks(points);
  const auto n = utf8proc_normalize_utf32(points.data(),
                                          static_cast<utf8proc_ssize_t>(points.size()), options);
  ISOBIT_REQUIRE(n >= 0 && static_cast<size_t>(n) <= points.size());
  for (utf8proc_ssize_t i = 0; i < n; ++i)
    append_utf8(out, static_cast<uint32_t>(points[static_cast<size_t>(i)]));
  points.clear();
}

}  // namespace

std::string to_unicode_form(std::string_view text, UnicodeForm form) {
  // Nothing below U+0300 composes with anything below U+0300, nothing in ASCII is decomposed.
  const unsigned first_changed = form == UnicodeForm::kNfc ? 0xCC : 0x80;
  const bool unchanged = std::all_of(text.begin(), text.end(), [&](char c) {
    return static_cast<unsigned char>(c) < first_changed;
  });
  if (unchanged) return std::string(text);
  const bool composes = form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc;
  const bool is_compatible = form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
  const auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
      (is_compatible ? UTF8PROC_COMPAT : 0));
  std::string out;
  out.reserve(text.size());
  CodePoints points;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (is_unknown(c.value)) {
      append_composed(points, options, out);
      append_utf8(out, c.value);
    } else {
      append_decomposed(c.value, options, points);
    }
    at += c.n_bytes;
  }
  append_composed(points, options, out);
  return out;
}

}  // namespace isobit

#include "text/unicode_newer.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "text/unicode.h"

namespace isobit {
namespace {

struct NewerRange {
  uint32_t first;
  uint32_t last;
  std::string_view kind;  // a general category, "Han" or "numeric"
};

constexpr NewerRange kNewer[] = {
#include "text/unicode_newer.inc"
};

// All of them by code point, each once.
const std::vector<NewerRange>& in_order() {
  static const std::vector<NewerRange> ranges = [] {
    std::vector<NewerRange> out(std::begin(kNewer), std::end(kNewer));
    std::erase_if(out, [](const NewerRange& r) { return r.kind == "Han" || r.kind == "numeric"; });
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return out;
  }();
  return ranges;
}

constexpr unsigned kFirstLeadByte = 0xE0;  // none of them is below U+0800

}  // namespace

bool is_newer_character(uint32_t c) {
  const std::vector<NewerRange>& ranges = in_order();
  const auto it =
      std::lower_bound(ranges.begin(), ranges.end(), c,
                       [](const NewerRange& r, uint32_t value) { return r.last < value; });
  return it != ranges.end() && it->first <= c;
}

bool has_newer_character(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < kFirstLeadByte) {
      ++at;
      continue;
    }
    const CodePoint c = code_point_at(text, at);
    if (is_newer_character(c.value)) return true;
    at += c.n_bytes;
  }
  return false;
}

std::string newer_members(std::string_view property) {
  std::string out;
  for (const NewerRange& range : kNewer) {
    const bool in_group =
        property.size() == 1 && range.kind.size() == 2 && range.kind[0] == property[0];
    if (range.kind != property && !in_group) continue;
    char member[32];
    std::snprintf(member, sizeof member, "\\x{%X}-\\x{%X}", range.first, range.last);
    out += member;
  }
  return out;
}

bool is_newer_numeric(uint32_t c) {
  if (c < 0x800) return false;
  return std::any_of(std::begin(kNewer), std::end(kNewer), [&](const NewerRange& r) {
    return r.kind == "numeric" && c >= r.first && c <= r.last;
  });
}

}  // namespace isobit

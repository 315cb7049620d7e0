#include "text/charsmap.h"

#include "base/error.h"
#include "text/unicode.h"

namespace isobit {
namespace {

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

uint32_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}
uint32_t label_of(uint32_t unit) {
  return unit & ((1u << 31) | 0xFF);  // a unit that holds a value has no label
}
bool has_value(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}

// REQUIRES: text is well-formed UTF-8.
bool is_inside_character(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}

}  // namespace

void Charsmap::fail(const std::string& what) const {
  throw Error(ErrorCode::environment, where_ + ": precompiled charsmap: " + what);
}

Charsmap::Charsmap(std::string_view blob, const std::string& where) : where_(where), blob_(blob) {
  if (blob.size() < 4) fail("shorter than its header");
  const uint32_t n_bytes = little_endian(blob, 0);
  if (n_bytes % 4 != 0 || n_bytes == 0 || n_bytes > blob.size() - 4) {
    fail("an array of " + std::to_string(n_bytes) + " bytes in " + std::to_string(blob.size()));
  }
  units_.reserve(n_bytes / 4);
  for (size_t at = 4; at < 4 + size_t{n_bytes}; at += 4) units_.push_back(little_endian(blob, at));
  replacements_ = blob.substr(4 + size_t{n_bytes});
  if (find_invalid_utf8(replacements_)) fail("a replacement is not UTF-8");
}

uint32_t Charsmap::unit(size_t at) const {
  if (at >= units_.size()) fail("the array leads outside of itself");
  return units_[at];
}

std::string_view Charsmap::replacement(uint32_t at) const {
  const size_t end = replacements_.find('\0', at);
  if (at >= replacements_.size() || end == std::string::npos) fail("a replacement has no end");
  if (is_inside_character(replacements_, at)) fail("a replacement begins inside a character");
  return std::string_view(replacements_).substr(at, end - at);
}

std::optional<Charsmap::Match> Charsmap::find(std::string_view text, bool stop_at_first) const {
  std::optional<Match> match;
  uint32_t at = offset_of(unit(0));
  for (size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    at ^= byte;
    const uint32_t node = unit(at);
    if (label_of(node) != byte) break;
    at ^= offset_of(node);
    if (!has_value(node)) continue;
    if (is_inside_character(text, i + 1)) fail("an entry ends inside a character");
    match = Match{i + 1, replacement(unit(at) & 0x7FFFFFFFu)};
    if (stop_at_first) break;
  }
  return match;
}

}  // namespace isobit

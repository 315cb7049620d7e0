#include "text/base64.h"

#include <cstdint>

namespace isobit {
namespace {

std::optional<uint32_t> six_bits(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a' + 26);
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0' + 52);
  if (c == '+') return 62;
  if (c == '/') return 63;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t n_padding = 0;
  while (n_padding < 2 && n_padding < text.size() && text[text.size() - 1 - n_padding] == '=')
    ++n_padding;
  const size_t n_digits = text.size() - n_padding;
  std::string out;
  uint32_t held = 0;
  unsigned n_held = 0;
  for (size_t i = 0; i < n_digits; ++i) {
    const auto bits = six_bits(text[i]);
    if (!bits) return std::nullopt;
    held = held << 6 | *bits;
    n_held += 6;
    if (n_held < 8) continue;
    n_held -= 8;
    out += static_cast<char>(held >> n_held & 0xFF);
  }
  return out;
}

}  // namespace isobit

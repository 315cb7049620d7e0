#include "text/byte_level.h"

#include <array>

#include "text/unicode.h"

namespace isobit {
namespace {

constexpr uint32_t kFirstStandIn = 0x100;
constexpr size_t kStandIns = 68;

struct Alphabet {
  std::array<uint32_t, 256> characters{};
  std::array<uint8_t, kStandIns> stand_in_bytes{};

  static constexpr bool prints(int byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
  }
  constexpr Alphabet() {
    size_t n_stand_ins = 0;
    for (int byte = 0; byte < 256; ++byte) {
      if (prints(byte)) {
        characters[static_cast<size_t>(byte)] = static_cast<uint32_t>(byte);
      } else {
        stand_in_bytes[n_stand_ins] = static_cast<uint8_t>(byte);
        characters[static_cast<size_t>(byte)] =
            kFirstStandIn + static_cast<uint32_t>(n_stand_ins++);
      }
    }
  }
};
constexpr Alphabet kAlphabet;

}  // namespace

uint32_t byte_level_character(uint8_t byte) {
  return kAlphabet.characters[byte];
}

std::optional<uint8_t> byte_level_byte(uint32_t c) {
  if (c < 0x100) {
    if (!Alphabet::prints(static_cast<int>(c))) return std::nullopt;
    return static_cast<uint8_t>(c);
  }
  if (c >= kFirstStandIn + kStandIns) return std::nullopt;
  return kAlphabet.stand_in_bytes[c - kFirstStandIn];
}

std::string to_byte_level(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) append_utf8(out, byte_level_character(static_cast<uint8_t>(c)));
  return out;
}

std::optional<std::string> from_byte_level(std::string_view token) {
  if (find_invalid_utf8(token)) return std::nullopt;
  std::string out;
  for (size_t at = 0; at < token.size();) {
    const CodePoint c = code_point_at(token, at);
    const auto byte = byte_level_byte(c.value);
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    at += c.n_bytes;
  }
  return out;
}

}  // namespace isobit

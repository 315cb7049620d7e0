// Arrays of numbers as little-endian bytes, on any machine.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace isobit {

template <typename Number>
using BitsOf = std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>;

template <typename Number>
void append_packed(std::string& out, Number value) {
  auto bits = std::bit_cast<BitsOf<Number>>(value);
  if constexpr (std::endian::native == std::endian::little) {
    out.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  } else {
    for (size_t i = 0; i < sizeof bits; ++i, bits >>= 8) out += static_cast<char>(bits & 0xff);
  }
}

template <typename Number>
std::string pack(const std::vector<Number>& values) {
  std::string out;
  out.reserve(values.size() * sizeof(Number));
  for (const Number value : values) append_packed(out, value);
  return out;
}

// REQUIRES: (index + 1) * sizeof(Number) <= bytes.size(). NaN payloads survive.
template <typename Number>
Number packed_at(std::string_view bytes, size_t index) {
  BitsOf<Number> bits = 0;
  const char* at = bytes.data() + index * sizeof bits;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&bits, at, sizeof bits);
  } else {
    for (size_t i = sizeof bits; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(at[i]);
  }
  return std::bit_cast<Number>(bits);
}

// REQUIRES: bytes.size() is a multiple of sizeof(Number).
template <typename Number>
std::vector<Number> unpack(std::string_view bytes) {
  std::vector<Number> out(bytes.size() / sizeof(Number));
  for (size_t i = 0; i < out.size(); ++i) out[i] = packed_at<Number>(bytes, i);
  return out;
}

}  // namespace isobit

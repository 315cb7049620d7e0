// f16 and bf16 <-> f32: to f32 exact, from f32 round to nearest even, subnormals kept (numeric
// contract section 1). Integer arithmetic only, so that the result depends on no control word and
// no instruction set.
#pragma once

#include <bit>
#include <cstdint>

namespace isobit {

inline float f32_from_bits(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t bits_from_f32(float v) {
  return std::bit_cast<uint32_t>(v);
}

inline float f32_from_bf16(uint16_t h) {
  return f32_from_bits(static_cast<uint32_t>(h) << 16);
}

inline uint16_t bf16_from_f32(float v) {
  const uint32_t u = bits_from_f32(v);
  if ((u & 0x7FFFFFFFu) > 0x7F800000u)
    return static_cast<uint16_t>((u >> 16) | 0x40);  // a NaN stays one
  return static_cast<uint16_t>((u + 0x7FFFu + ((u >> 16) & 1)) >> 16);
}

inline float f32_from_f16(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 31u, mantissa = h & 0x3FFu;
  if (exponent == 31) return f32_from_bits(sign | 0x7F800000u | mantissa << 13);
  if (exponent == 0) {
    if (mantissa == 0) return f32_from_bits(sign);
    exponent = 1;
    while (!(mantissa & 0x400u)) {
      mantissa <<= 1;
      --exponent;
    }
    mantissa &= 0x3FFu;
  }
  return f32_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

inline uint16_t f16_from_f32(float v) {
  const uint32_t u = bits_from_f32(v), magnitude = u & 0x7FFFFFFFu;
  const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000u);
  if (magnitude > 0x7F800000u)
    return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
  if (magnitude >= 0x477FF000u)
    return static_cast<uint16_t>(sign | 0x7C00u);  // 65520 and above round to infinity
  if (magnitude >= 0x38800000u) {                  // normal: 2^-14 and above
    const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (magnitude <= 0x33000000u)
    return sign;  // 2^-25 and below round to zero (2^-25 is a tie, to even)
  const uint32_t shift = 126 - (magnitude >> 23);  // bits below the subnormal unit 2^-24
  const uint32_t m = (magnitude & 0x7FFFFFu) | 0x800000u;
  const uint32_t half = 1u << (shift - 1), rest = m & ((1u << shift) - 1);
  uint32_t q = m >> shift;
  q += rest > half || (rest == half && (q & 1));
  return static_cast<uint16_t>(sign | q);
}

// The 8-bit float with 4 exponent and 3 mantissa bits, bias 7, without infinities: 0x7F and 0xFF
// are NaN (OCP 8-bit floating point specification, E4M3).
inline float f32_from_e4m3(uint8_t b) {
  const uint32_t sign = static_cast<uint32_t>(b & 0x80u) << 24;
  const uint32_t exponent = (b >> 3) & 15u, mantissa = b & 7u;
  if (exponent == 15 && mantissa == 7) return f32_from_bits(sign | 0x7FC00000u);
  if (exponent > 0) return f32_from_bits(sign | (exponent + 120) << 23 | mantissa << 20);
  const float subnormal = static_cast<float>(mantissa) * 0x1p-9f;
  return sign ? -subnormal : subnormal;
}

}  // namespace isobit

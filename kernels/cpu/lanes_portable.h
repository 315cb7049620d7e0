// Eight floats as plain C++: the lane type for every architecture without a file of its own.
// numeric/elementary.h lists the operations that the elementary functions use; the rest serves the
// matmul and attention kernels. Conversions are the contract's (section 1): f16 and bf16 to f32
// exact, back to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tensor/half.h"

#define ISOBIT_LANES_INLINE [[gnu::always_inline]] inline

namespace isobit {

struct PortableInt {
  static constexpr int kWidth = 8;
  uint32_t v[kWidth];  // unsigned, so that wrapping is defined

  static PortableInt broadcast(int32_t i) {
    PortableInt r;
    for (uint32_t& e : r.v) e = static_cast<uint32_t>(i);
    return r;
  }
  static PortableInt load(const void* p) {
    PortableInt r;
    std::memcpy(r.v, p, sizeof(r.v));
    return r;
  }
};

struct PortableMask {
  uint32_t v[PortableInt::kWidth];  // all ones where it holds, as vector comparisons give it
};

struct PortableLanes {
  using Int = PortableInt;
  using Mask = PortableMask;
  static constexpr int kWidth = PortableInt::kWidth;
  // Tiles that keep a leaf's sums in cache; there are no registers to fit.
  static constexpr int kTileRows = 4, kTileVectors = 4, kDirectRows = 2;
  static constexpr int kDirectRowsPlain = 8, kDirectRowsBlock = 2;
  static constexpr bool kPairLeaves = false;

  float v[kWidth];

  static PortableLanes broadcast(float f) {
    PortableLanes r;
    for (float& e : r.v) e = f;
    return r;
  }
  static PortableLanes load(const void* p) {
    PortableLanes r;
    std::memcpy(r.v, p, sizeof(r.v));
    return r;
  }
  static PortableLanes load_f16(const void* p) {
    return convert<uint16_t>(p, [](uint16_t h) { return f32_from_f16(h); });
  }
  static PortableLanes load_bf16(const void* p) {
    return convert<uint16_t>(p, [](uint16_t h) { return f32_from_bf16(h); });
  }
  static PortableLanes load_i8(const void* p) {
    return convert<int8_t>(p, [](int8_t i) { return static_cast<float>(i); });
  }
  void store(float* p) const { std::memcpy(p, v, sizeof(v)); }
  void store_f16(void* p) const {
    uint16_t h[kWidth];
    for (int i = 0; i < kWidth; ++i) h[i] = f16_from_f32(v[i]);
    std::memcpy(p, h, sizeof(h));
  }
  void store_bf16(void* p) const {
    uint16_t h[kWidth];
    for (int i = 0; i < kWidth; ++i) h[i] = bf16_from_f32(v[i]);
    std::memcpy(p, h, sizeof(h));
  }

 private:
  template <class Stored, class Convert>
  static PortableLanes convert(const void* p, Convert to_f32) {
    Stored stored[kWidth];
    std::memcpy(stored, p, sizeof(stored));
    PortableLanes r;
    for (int i = 0; i < kWidth; ++i) r.v[i] = to_f32(stored[i]);
    return r;
  }
};

// The fma of binary32 made of binary64 operations, for compilers that would call a function for
// std::fma. About twenty operations and no branch, so that loops over lanes become vector code.
//
// The product of two f32 is exact in binary64. The sum is rounded to odd: `lost` is what its
// rounding to nearest left over (Knuth's two-sum), and where that is not zero and the sum's last
// bit is even, the sum moves by one unit towards it. A sum rounded to odd with 53 bits rounds to 24
// bits, and to a subnormal's fewer, as the exact one would (Boldo and Melquiond, "Emulation of a
// FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). Nothing
// overflows or is subnormal on the way; an infinite or NaN sum never moves, because `lost` is a
// NaN then. The payload of a NaN may differ from std::fma's.
ISOBIT_LANES_INLINE float fma_without_instruction(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double from_addend = sum - product;
  const double lost = (product - (sum - from_addend)) + (addend - from_addend);
  const auto sum_bits = std::bit_cast<uint64_t>(sum), lost_bits = std::bit_cast<uint64_t>(lost);
  // The integer 1 selected as a double: 64-bit integers have no vector comparison in SSE2.
  const double one_unit = std::bit_cast<double>(uint64_t{1});
  const auto inexact = std::bit_cast<uint64_t>(std::fabs(lost) > 0.0 ? one_unit : 0.0);
  const uint64_t moves = inexact & ~sum_bits;
  const uint64_t to_zero = (sum_bits ^ lost_bits) >> 63;  // the signs differ
  return static_cast<float>(std::bit_cast<double>(sum_bits + moves - ((moves & to_zero) << 1)));
}

#define ISOBIT_EACH_LANE(Result, expression)                             \
  Result r;                                                              \
  for (int i = 0; i < PortableLanes::kWidth; ++i) r.v[i] = (expression); \
  return r

ISOBIT_LANES_INLINE PortableLanes operator+(const PortableLanes& a, const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableLanes, a.v[i] + b.v[i]);
}
ISOBIT_LANES_INLINE PortableLanes operator-(const PortableLanes& a, const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableLanes, a.v[i] - b.v[i]);
}
ISOBIT_LANES_INLINE PortableLanes operator*(const PortableLanes& a, const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableLanes, a.v[i] * b.v[i]);
}
ISOBIT_LANES_INLINE PortableLanes operator/(const PortableLanes& a, const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableLanes, a.v[i] / b.v[i]);
}
ISOBIT_LANES_INLINE PortableLanes fma(const PortableLanes& a, const PortableLanes& b,
                                      const PortableLanes& c) {
#if defined(__FP_FAST_FMAF)
  ISOBIT_EACH_LANE(PortableLanes, std::fma(a.v[i], b.v[i], c.v[i]));
#else
  ISOBIT_EACH_LANE(PortableLanes, fma_without_instruction(a.v[i], b.v[i], c.v[i]));
#endif
}
ISOBIT_LANES_INLINE PortableMask operator<(const PortableLanes& a, const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableMask, a.v[i] < b.v[i] ? ~0u : 0u);
}
ISOBIT_LANES_INLINE PortableMask operator==(const PortableLanes& a, const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableMask, a.v[i] == b.v[i] ? ~0u : 0u);
}
ISOBIT_LANES_INLINE PortableLanes select(const PortableMask& m, const PortableLanes& a,
                                         const PortableLanes& b) {
  ISOBIT_EACH_LANE(PortableLanes,
                   std::bit_cast<float>((std::bit_cast<uint32_t>(a.v[i]) & m.v[i]) |
                                        (std::bit_cast<uint32_t>(b.v[i]) & ~m.v[i])));
}
ISOBIT_LANES_INLINE PortableInt operator+(const PortableInt& a, const PortableInt& b) {
  ISOBIT_EACH_LANE(PortableInt, a.v[i] + b.v[i]);
}
ISOBIT_LANES_INLINE PortableInt operator-(const PortableInt& a, const PortableInt& b) {
  ISOBIT_EACH_LANE(PortableInt, a.v[i] - b.v[i]);
}
ISOBIT_LANES_INLINE PortableInt operator&(const PortableInt& a, const PortableInt& b) {
  ISOBIT_EACH_LANE(PortableInt, a.v[i] & b.v[i]);
}
ISOBIT_LANES_INLINE PortableInt operator|(const PortableInt& a, const PortableInt& b) {
  ISOBIT_EACH_LANE(PortableInt, a.v[i] | b.v[i]);
}
ISOBIT_LANES_INLINE PortableInt select(const PortableMask& m, const PortableInt& a,
                                       const PortableInt& b) {
  ISOBIT_EACH_LANE(PortableInt, (a.v[i] & m.v[i]) | (b.v[i] & ~m.v[i]));
}
template <int N>
ISOBIT_LANES_INLINE PortableInt shift_left(const PortableInt& a) {
  ISOBIT_EACH_LANE(PortableInt, a.v[i] << N);
}
template <int N>
ISOBIT_LANES_INLINE PortableInt shift_right(const PortableInt& a) {
  ISOBIT_EACH_LANE(PortableInt, static_cast<uint32_t>(static_cast<int32_t>(a.v[i]) >> N));
}
// Logical, by the same distance in every lane, 0..31.
ISOBIT_LANES_INLINE PortableInt shift_right_by(const PortableInt& a, int distance) {
  ISOBIT_EACH_LANE(PortableInt, a.v[i] >> distance);
}
ISOBIT_LANES_INLINE PortableInt bits(const PortableLanes& a) {
  ISOBIT_EACH_LANE(PortableInt, std::bit_cast<uint32_t>(a.v[i]));
}
ISOBIT_LANES_INLINE PortableLanes from_bits(const PortableInt& a) {
  ISOBIT_EACH_LANE(PortableLanes, std::bit_cast<float>(a.v[i]));
}
ISOBIT_LANES_INLINE PortableLanes to_float(const PortableInt& a) {
  ISOBIT_EACH_LANE(PortableLanes, static_cast<float>(static_cast<int32_t>(a.v[i])));
}
// float((a >> N) & 15), exact; and the same less 8.
template <int N>
ISOBIT_LANES_INLINE PortableLanes nibble(const PortableInt& a) {
  ISOBIT_EACH_LANE(PortableLanes, static_cast<float>((a.v[i] >> N) & 15u));
}
template <int N>
ISOBIT_LANES_INLINE PortableLanes nibble_less_8(const PortableInt& a) {
  ISOBIT_EACH_LANE(PortableLanes,
                   static_cast<float>(static_cast<int32_t>((a.v[i] >> N) & 15u) - 8));
}

#undef ISOBIT_EACH_LANE

}  // namespace isobit

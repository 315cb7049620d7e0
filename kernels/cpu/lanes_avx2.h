// Eight floats in an AVX2 register (with FMA and F16C). Included by one file, compiled for that
// instruction set: cpu_ops.h says why. lanes_portable.h is the plain text of every operation here.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define ISOBIT_LANES_INLINE [[gnu::always_inline]] inline

namespace isobit {

struct Avx2Int {
  __m256i v;

  ISOBIT_LANES_INLINE static Avx2Int broadcast(int32_t i) { return {_mm256_set1_epi32(i)}; }
  ISOBIT_LANES_INLINE static Avx2Int load(const void* p) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(p))};
  }
};

struct Avx2Mask {
  __m256 v;
};

struct Avx2Lanes {
  using Int = Avx2Int;
  using Mask = Avx2Mask;
  static constexpr int kWidth = 8;
  // 16 registers: 6 rows of 2 vectors leave 4 for the weights and x; unpacking needs some of them.
  static constexpr int kTileRows = 6, kTileVectors = 2, kDirectRows = 4;
  static constexpr int kDirectRowsPlain = 16, kDirectRowsBlock = 4;
  static constexpr bool kPairLeaves = false;

  __m256 v;

  ISOBIT_LANES_INLINE static Avx2Lanes broadcast(float f) { return {_mm256_set1_ps(f)}; }
  ISOBIT_LANES_INLINE static Avx2Lanes load(const void* p) {
    return {_mm256_loadu_ps(static_cast<const float*>(p))};
  }
  ISOBIT_LANES_INLINE static Avx2Lanes load_f16(const void* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  ISOBIT_LANES_INLINE static Avx2Lanes load_bf16(const void* p) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))};
  }
  ISOBIT_LANES_INLINE static Avx2Lanes load_i8(const void* p) {
    const __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
    return {_mm256_cvtepi32_ps(wide)};
  }
  ISOBIT_LANES_INLINE void store(float* p) const { _mm256_storeu_ps(p, v); }
  ISOBIT_LANES_INLINE void store_f16(void* p) const {
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
  ISOBIT_LANES_INLINE void store_bf16(void* p) const {
    const __m256i u = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7FFF)), odd);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(sum, quiet, nan), 16);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(high, high), 0x08);
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
  }
};

ISOBIT_LANES_INLINE Avx2Lanes operator+(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_add_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Lanes operator-(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_sub_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Lanes operator*(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Lanes operator/(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_div_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Lanes fma(Avx2Lanes a, Avx2Lanes b, Avx2Lanes c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
ISOBIT_LANES_INLINE Avx2Mask operator<(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
}
ISOBIT_LANES_INLINE Avx2Mask operator==(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)};
}
ISOBIT_LANES_INLINE Avx2Lanes select(Avx2Mask m, Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_blendv_ps(b.v, a.v, m.v)};
}
ISOBIT_LANES_INLINE Avx2Int operator+(Avx2Int a, Avx2Int b) {
  return {_mm256_add_epi32(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Int operator-(Avx2Int a, Avx2Int b) {
  return {_mm256_sub_epi32(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Int operator&(Avx2Int a, Avx2Int b) {
  return {_mm256_and_si256(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Int operator|(Avx2Int a, Avx2Int b) {
  return {_mm256_or_si256(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx2Int select(Avx2Mask m, Avx2Int a, Avx2Int b) {
  return {_mm256_blendv_epi8(b.v, a.v, _mm256_castps_si256(m.v))};
}
template <int N>
ISOBIT_LANES_INLINE Avx2Int shift_left(Avx2Int a) {
  return {_mm256_slli_epi32(a.v, N)};
}
template <int N>
ISOBIT_LANES_INLINE Avx2Int shift_right(Avx2Int a) {
  return {_mm256_srai_epi32(a.v, N)};
}
ISOBIT_LANES_INLINE Avx2Int shift_right_by(Avx2Int a, int distance) {
  return {_mm256_srl_epi32(a.v, _mm_cvtsi32_si128(distance))};
}
ISOBIT_LANES_INLINE Avx2Int bits(Avx2Lanes a) {
  return {_mm256_castps_si256(a.v)};
}
ISOBIT_LANES_INLINE Avx2Lanes from_bits(Avx2Int a) {
  return {_mm256_castsi256_ps(a.v)};
}
ISOBIT_LANES_INLINE Avx2Lanes to_float(Avx2Int a) {
  return {_mm256_cvtepi32_ps(a.v)};
}

template <int N>
ISOBIT_LANES_INLINE Avx2Int nibble_integer(Avx2Int a) {
  const __m256i shifted = N == 0 ? a.v : _mm256_srli_epi32(a.v, N);
  return {N == 28 ? shifted : _mm256_and_si256(shifted, _mm256_set1_epi32(15))};
}
template <int N>
ISOBIT_LANES_INLINE Avx2Lanes nibble(Avx2Int a) {
  return to_float(nibble_integer<N>(a));
}
template <int N>
ISOBIT_LANES_INLINE Avx2Lanes nibble_less_8(Avx2Int a) {
  return to_float(nibble_integer<N>(a)) - Avx2Lanes::broadcast(8.0f);
}

}  // namespace isobit

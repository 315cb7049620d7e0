// Sixteen floats in an AVX-512 register. Included by one file, compiled for that instruction set:
// cpu_ops.h says why. lanes_portable.h is the plain text of every operation here.
#pragma once

// GCC 12 warns about the deliberately undefined operands inside its own intrinsics (GCC bug
// 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <cstdint>

#define ISOBIT_LANES_INLINE [[gnu::always_inline]] inline

namespace isobit {

struct Avx512Int {
  __m512i v;

  ISOBIT_LANES_INLINE static Avx512Int broadcast(int32_t i) { return {_mm512_set1_epi32(i)}; }
  ISOBIT_LANES_INLINE static Avx512Int load(const void* p) { return {_mm512_loadu_si512(p)}; }
};

struct Avx512Mask {
  __mmask16 v;
};

struct Avx512Lanes {
  using Int = Avx512Int;
  using Mask = Avx512Mask;
  static constexpr int kWidth = 16;
  // 32 registers: 12 rows of 2 vectors leave 8 for the weights and x.
  static constexpr int kTileRows = 12, kTileVectors = 2, kDirectRows = 8;
  static constexpr int kDirectRowsPlain = 32, kDirectRowsBlock = 16;
  static constexpr bool kPairLeaves = true;

  __m512 v;

  ISOBIT_LANES_INLINE static Avx512Lanes broadcast(float f) { return {_mm512_set1_ps(f)}; }
  ISOBIT_LANES_INLINE static Avx512Lanes load(const void* p) { return {_mm512_loadu_ps(p)}; }
  ISOBIT_LANES_INLINE static Avx512Lanes load_f16(const void* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
  }
  ISOBIT_LANES_INLINE static Avx512Lanes load_bf16(const void* p) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
  }
  ISOBIT_LANES_INLINE static Avx512Lanes load_i8(const void* p) {
    const __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    return {_mm512_cvtepi32_ps(wide)};
  }
  ISOBIT_LANES_INLINE void store(float* p) const { _mm512_storeu_ps(p, v); }
  ISOBIT_LANES_INLINE void store_f16(void* p) const {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
  ISOBIT_LANES_INLINE void store_bf16(void* p) const {
    const __m512i u = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7FFF)), odd);
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    const __m512i rounded = _mm512_mask_or_epi32(sum, nan, u, _mm512_set1_epi32(0x400000));
    const __m256i packed = _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
    _mm256_storeu_si256(static_cast<__m256i*>(p), packed);
  }
};

ISOBIT_LANES_INLINE Avx512Lanes operator+(Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_add_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Lanes operator-(Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Lanes operator*(Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Lanes operator/(Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_div_ps(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Lanes fma(Avx512Lanes a, Avx512Lanes b, Avx512Lanes c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
ISOBIT_LANES_INLINE Avx512Mask operator<(Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
ISOBIT_LANES_INLINE Avx512Mask operator==(Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
}
ISOBIT_LANES_INLINE Avx512Lanes select(Avx512Mask m, Avx512Lanes a, Avx512Lanes b) {
  return {_mm512_mask_blend_ps(m.v, b.v, a.v)};
}
ISOBIT_LANES_INLINE Avx512Int operator+(Avx512Int a, Avx512Int b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Int operator-(Avx512Int a, Avx512Int b) {
  return {_mm512_sub_epi32(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Int operator&(Avx512Int a, Avx512Int b) {
  return {_mm512_and_si512(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Int operator|(Avx512Int a, Avx512Int b) {
  return {_mm512_or_si512(a.v, b.v)};
}
ISOBIT_LANES_INLINE Avx512Int select(Avx512Mask m, Avx512Int a, Avx512Int b) {
  return {_mm512_mask_blend_epi32(m.v, b.v, a.v)};
}
template <int N>
ISOBIT_LANES_INLINE Avx512Int shift_left(Avx512Int a) {
  return {_mm512_slli_epi32(a.v, N)};
}
template <int N>
ISOBIT_LANES_INLINE Avx512Int shift_right(Avx512Int a) {
  return {_mm512_srai_epi32(a.v, N)};
}
ISOBIT_LANES_INLINE Avx512Int shift_right_by(Avx512Int a, int distance) {
  return {_mm512_srl_epi32(a.v, _mm_cvtsi32_si128(distance))};
}
ISOBIT_LANES_INLINE Avx512Int bits(Avx512Lanes a) {
  return {_mm512_castps_si512(a.v)};
}
ISOBIT_LANES_INLINE Avx512Lanes from_bits(Avx512Int a) {
  return {_mm512_castsi512_ps(a.v)};
}
ISOBIT_LANES_INLINE Avx512Lanes to_float(Avx512Int a) {
  return {_mm512_cvtepi32_ps(a.v)};
}

// A permutation looks at the low four bits of each lane only, so it masks and converts a nibble in
// one instruction.
template <int N>
ISOBIT_LANES_INLINE Avx512Lanes nibble(Avx512Int a) {
  const __m512 table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return {_mm512_permutexvar_ps(N == 0 ? a.v : _mm512_srli_epi32(a.v, N), table)};
}
template <int N>
ISOBIT_LANES_INLINE Avx512Lanes nibble_less_8(Avx512Int a) {
  const __m512 table = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm512_permutexvar_ps(N == 0 ? a.v : _mm512_srli_epi32(a.v, N), table)};
}

}  // namespace isobit

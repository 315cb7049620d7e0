// Four floats in a NEON register of an aarch64 processor. lanes_portable.h is the plain text of
// every operation here.
//
// Everything used is part of the base architecture (Armv8.0-A), the conversions from and to f16
// included, so there is nothing to ask the processor for. The bf16 and f16 arithmetic of later
// versions flushes or rounds otherwise and cannot appear here (numeric contract section 1).
#pragma once

#include <arm_neon.h>

#include <cstdint>

#define ISOBIT_LANES_INLINE [[gnu::always_inline]] inline

namespace isobit {

struct NeonInt {
  int32x4_t v;

  ISOBIT_LANES_INLINE static NeonInt broadcast(int32_t i) { return {vdupq_n_s32(i)}; }
  ISOBIT_LANES_INLINE static NeonInt load(const void* p) {
    return {vreinterpretq_s32_u8(vld1q_u8(static_cast<const uint8_t*>(p)))};
  }
};

struct NeonMask {
  uint32x4_t v;
};

struct NeonLanes {
  using Int = NeonInt;
  using Mask = NeonMask;
  static constexpr int kWidth = 4;
  // 32 registers: 6 rows of 4 vectors leave 8 for the weights and x.
  static constexpr int kTileRows = 6, kTileVectors = 4, kDirectRows = 3;
  static constexpr int kDirectRowsPlain = 12, kDirectRowsBlock = 6;
  static constexpr bool kPairLeaves = true;

  float32x4_t v;

  ISOBIT_LANES_INLINE static NeonLanes broadcast(float f) { return {vdupq_n_f32(f)}; }
  ISOBIT_LANES_INLINE static NeonLanes load(const void* p) {
    return {vreinterpretq_f32_u8(vld1q_u8(static_cast<const uint8_t*>(p)))};
  }
  ISOBIT_LANES_INLINE static NeonLanes load_f16(const void* p) {
    return {vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(static_cast<const uint8_t*>(p))))};
  }
  ISOBIT_LANES_INLINE static NeonLanes load_bf16(const void* p) {
    const uint16x4_t stored = vreinterpret_u16_u8(vld1_u8(static_cast<const uint8_t*>(p)));
    return {vreinterpretq_f32_u32(vshll_n_u16(stored, 16))};
  }
  ISOBIT_LANES_INLINE static NeonLanes load_i8(const void* p) {
    uint32_t four;
    __builtin_memcpy(&four, p, 4);
    const int8x8_t stored = vreinterpret_s8_u32(vdup_n_u32(four));
    return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(stored))))};
  }
  ISOBIT_LANES_INLINE void store(float* p) const { vst1q_f32(p, v); }
  ISOBIT_LANES_INLINE void store_f16(void* p) const {
    vst1_u8(static_cast<uint8_t*>(p), vreinterpret_u8_f16(vcvt_f16_f32(v)));
  }
  ISOBIT_LANES_INLINE void store_bf16(void* p) const {
    const uint32x4_t u = vreinterpretq_u32_f32(v);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
    const uint32x4_t sum = vaddq_u32(vaddq_u32(u, vdupq_n_u32(0x7FFF)), odd);
    const uint32x4_t quiet = vorrq_u32(u, vdupq_n_u32(0x400000));
    const uint16x4_t high = vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), sum, quiet), 16);
    vst1_u8(static_cast<uint8_t*>(p), vreinterpret_u8_u16(high));
  }
};

ISOBIT_LANES_INLINE NeonLanes operator+(NeonLanes a, NeonLanes b) {
  return {vaddq_f32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonLanes operator-(NeonLanes a, NeonLanes b) {
  return {vsubq_f32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonLanes operator*(NeonLanes a, NeonLanes b) {
  return {vmulq_f32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonLanes operator/(NeonLanes a, NeonLanes b) {
  return {vdivq_f32(a.v, b.v)};
}
// The intrinsic takes the addend first.
ISOBIT_LANES_INLINE NeonLanes fma(NeonLanes a, NeonLanes b, NeonLanes c) {
  return {vfmaq_f32(c.v, a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonMask operator<(NeonLanes a, NeonLanes b) {
  return {vcltq_f32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonMask operator==(NeonLanes a, NeonLanes b) {
  return {vceqq_f32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonLanes select(NeonMask m, NeonLanes a, NeonLanes b) {
  return {vbslq_f32(m.v, a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonInt operator+(NeonInt a, NeonInt b) {
  return {vaddq_s32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonInt operator-(NeonInt a, NeonInt b) {
  return {vsubq_s32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonInt operator&(NeonInt a, NeonInt b) {
  return {vandq_s32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonInt operator|(NeonInt a, NeonInt b) {
  return {vorrq_s32(a.v, b.v)};
}
ISOBIT_LANES_INLINE NeonInt select(NeonMask m, NeonInt a, NeonInt b) {
  return {vbslq_s32(m.v, a.v, b.v)};
}
template <int N>
ISOBIT_LANES_INLINE NeonInt shift_left(NeonInt a) {
  return {vshlq_n_s32(a.v, N)};
}
template <int N>
ISOBIT_LANES_INLINE NeonInt shift_right(NeonInt a) {
  if constexpr (N == 0) {
    return a;  // the intrinsic takes 1..32
  } else {
    return {vshrq_n_s32(a.v, N)};
  }
}
// A shift to the left by a negative distance; unsigned, so that zeros come in.
ISOBIT_LANES_INLINE NeonInt shift_right_by(NeonInt a, int distance) {
  return {vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a.v), vdupq_n_s32(-distance)))};
}
ISOBIT_LANES_INLINE NeonInt bits(NeonLanes a) {
  return {vreinterpretq_s32_f32(a.v)};
}
ISOBIT_LANES_INLINE NeonLanes from_bits(NeonInt a) {
  return {vreinterpretq_f32_s32(a.v)};
}
ISOBIT_LANES_INLINE NeonLanes to_float(NeonInt a) {
  return {vcvtq_f32_s32(a.v)};
}

template <int N>
ISOBIT_LANES_INLINE NeonLanes nibble(NeonInt a) {
  return to_float(shift_right<N>(a) & NeonInt::broadcast(15));
}
template <int N>
ISOBIT_LANES_INLINE NeonLanes nibble_less_8(NeonInt a) {
  return to_float((shift_right<N>(a) & NeonInt::broadcast(15)) - NeonInt::broadcast(8));
}

}  // namespace isobit

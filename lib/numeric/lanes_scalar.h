// The lane type of one float (lib/numeric/elementary.h says what a lane type offers) and the scalar
// functions made of it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "numeric/elementary.h"
#include "numeric/ieee_arithmetic.h"

namespace isobit {

struct ScalarInt {
  uint32_t v;  // unsigned, so that wrapping is defined

  static ScalarInt broadcast(int32_t i) { return {static_cast<uint32_t>(i)}; }
};

struct ScalarLanes {
  using Int = ScalarInt;
  using Mask = bool;
  float v;

  static ScalarLanes broadcast(float f) { return {f}; }
};

inline ScalarLanes operator+(ScalarLanes a, ScalarLanes b) {
  return {a.v + b.v};
}
inline ScalarLanes operator-(ScalarLanes a, ScalarLanes b) {
  return {a.v - b.v};
}
inline ScalarLanes operator*(ScalarLanes a, ScalarLanes b) {
  return {a.v * b.v};
}
inline ScalarLanes operator/(ScalarLanes a, ScalarLanes b) {
  return {a.v / b.v};
}
inline ScalarLanes fma(ScalarLanes a, ScalarLanes b, ScalarLanes c) {
  return {std::fma(a.v, b.v, c.v)};
}
inline bool operator<(ScalarLanes a, ScalarLanes b) {
  return a.v < b.v;
}
inline bool operator==(ScalarLanes a, ScalarLanes b) {
  return a.v == b.v;
}
inline ScalarLanes select(bool mask, ScalarLanes a, ScalarLanes b) {
  return mask ? a : b;
}

inline ScalarInt operator+(ScalarInt a, ScalarInt b) {
  return {a.v + b.v};
}
inline ScalarInt operator-(ScalarInt a, ScalarInt b) {
  return {a.v - b.v};
}
inline ScalarInt operator&(ScalarInt a, ScalarInt b) {
  return {a.v & b.v};
}
inline ScalarInt operator|(ScalarInt a, ScalarInt b) {
  return {a.v | b.v};
}
inline ScalarInt select(bool mask, ScalarInt a, ScalarInt b) {
  return mask ? a : b;
}
template <int N>
ScalarInt shift_left(ScalarInt a) {
  return {a.v << N};
}
template <int N>
ScalarInt shift_right(ScalarInt a) {
  return {static_cast<uint32_t>(static_cast<int32_t>(a.v) >> N)};
}

inline ScalarInt bits(ScalarLanes a) {
  return {std::bit_cast<uint32_t>(a.v)};
}
inline ScalarLanes from_bits(ScalarInt i) {
  return {std::bit_cast<float>(i.v)};
}
inline ScalarLanes to_float(ScalarInt i) {
  return {static_cast<float>(static_cast<int32_t>(i.v))};
}

inline float exp_f32(float x) {
  return exp_lanes(ScalarLanes{x}).v;
}
inline float exp2_f32(float x) {
  return exp2_lanes(ScalarLanes{x}).v;
}
inline float log_f32(float x) {
  return log_lanes(ScalarLanes{x}).v;
}
inline float tanh_f32(float x) {
  return tanh_lanes(ScalarLanes{x}).v;
}
inline float erf_f32(float x) {
  return erf_lanes(ScalarLanes{x}).v;
}

}  // namespace isobit

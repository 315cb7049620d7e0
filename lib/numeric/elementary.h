// exp, exp2, log, tanh and erf in binary32: the one source that defines them (numeric contract
// section 3.7).
//
// Library functions differ in their last bits between libm versions and between host and device, so
// isobit has its own. Each is a fixed sequence of IEEE operations (add, sub, mul, div, fma, integer
// add and shift, compare, select), written once over a lane type V: instantiated with one float it
// is the scalar function, with a register of floats it is the vector function, and both give the
// same bits because every lane performs the same operations. Results are at most 1 ulp from the
// true value for every input (lib/selftest measures), subnormals included. A NaN argument, and log
// of a negative number, give the one NaN 0x7FC00000, whatever the hardware's own NaN looks like.
//
// The lane type. V holds lanes of f32, V::Int the same number of 32-bit integers, V::Mask one truth
// value per lane.
//   V::broadcast(float) -> V                 V::Int::broadcast(int32_t) -> V::Int
//   a + b, a - b, a * b, a / b               IEEE, round to nearest even, on V
//   fma(a, b, c)                             one rounding, on V
//   a < b, a == b                            on V, giving V::Mask; false where an operand is NaN
//   select(mask, a, b)                       a where the mask holds, else b; on V and on V::Int
//   bits(V) -> V::Int, from_bits(Int) -> V   the same 32 bits
//   i + j, i - j, i & j, i | j               on V::Int, wrapping
//   shift_left<N>(i), shift_right<N>(i)      on V::Int; right shifts keep the sign
//   to_float(V::Int) -> V                    exact for what is asked here (below 2^24 in magnitude)
// Code that instantiates these must be compiled without contraction and must run with rounding to
// nearest and subnormals.
//
// Polynomials: minimax fits with binary32 coefficients by Sollya's fpminimax (relative error; the
// leading coefficients fixed to the exact ones) and, for erfc, a Remez fit weighted by erfc and
// then rounded. Their own error is given at each. Largest errors over all 2^32 inputs, in units of
// the true value's last place, as `isobit selftest --exhaustive` measures them:
//   exp  0.8914 at -0x1.765026p+2     tanh 0.9066 at 0x1.d0dbc8p-1
//   exp2 0.8784 at -0x1.f9fc6ap+6     erf  0.9909 at 0x1.ff23a4p-1
//   log  0.8823 at 0x1.4665f2p+0
#pragma once

#include <cstdint>

namespace isobit {

// The functions by name, for what treats them all alike.
enum class Elementary : uint8_t { kExp, kExp2, kLog, kTanh, kErf };
inline constexpr Elementary kElementaryFunctions[] = {
    Elementary::kExp, Elementary::kExp2, Elementary::kLog, Elementary::kTanh, Elementary::kErf};

constexpr const char* name(Elementary function) {
  constexpr const char* kNames[] = {"exp", "exp2", "log", "tanh", "erf"};
  return kNames[static_cast<int>(function)];
}

namespace elementary {

// Adding this to |x| <= 2^22 leaves round-to-nearest-even(x) in the low bits of the sum.
inline constexpr float kRoundShift = 0x1.8p23f;
inline constexpr int32_t kRoundShiftBits = 0x4B400000;
inline constexpr int32_t kNanBits = 0x7FC00000;

template <class V>
V constant(float v) {
  return V::broadcast(v);
}

template <class V>
V canonical_nan() {
  return from_bits(V::Int::broadcast(kNanBits));
}

template <class V>
struct Rounded {
  V value;  // the nearest integer, as a float
  typename V::Int integer;
};

// REQUIRES: |x| <= 2^22.
template <class V>
Rounded<V> round_to_integer(V x) {
  const V shifted = x + constant<V>(kRoundShift);
  return {shifted - constant<V>(kRoundShift), bits(shifted) - V::Int::broadcast(kRoundShiftBits)};
}

// lo <= x <= hi; a NaN becomes hi.
template <class V>
V clamp(V x, float lo, float hi) {
  const V below = select(x < constant<V>(hi), x, constant<V>(hi));
  return select(constant<V>(lo) < below, below, constant<V>(lo));
}

// 2^n for n in [-126, 127].
template <class V>
V power_of_two(typename V::Int n) {
  return from_bits(shift_left<23>(n + V::Int::broadcast(127)));
}

// x * 2^n for n in [-252, 254] with one rounding where the result is subnormal: the first of the
// two factors is exact.
// REQUIRES: x in [1/2, 2].
template <class V>
V scale(V x, typename V::Int n) {
  const typename V::Int half = shift_right<1>(n);
  return (x * power_of_two<V>(half)) * power_of_two<V>(n - half);
}

// Horner's rule; coefficients from the highest power down to the constant.
template <class V>
V horner(V x, float c0) {
  (void)x;
  return constant<V>(c0);
}
template <class V, class... Rest>
V horner_step(V x, V accumulated, float next, Rest... rest) {
  accumulated = fma(accumulated, x, constant<V>(next));
  if constexpr (sizeof...(rest) == 0) {
    return accumulated;
  } else {
    return horner_step(x, accumulated, rest...);
  }
}
template <class V, class... Rest>
V horner(V x, float highest, float next, Rest... rest) {
  return horner_step(x, constant<V>(highest), next, rest...);
}

// e^x = 2^n * e^r with |r| <= 0.347, and e^r = 1 + r p with relative error 3.2e-9.
template <class V>
struct ExpParts {
  V r;
  V p;
  Rounded<V> n;
};

// REQUIRES: |x| <= 126.
template <class V>
ExpParts<V> exp_parts(V x) {
  constexpr float kLog2e = 0x1.715476p+0f;
  constexpr float kLn2High = 0x1.62e4p-1f;  // 14 bits: n * kLn2High is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const Rounded<V> n = round_to_integer(x * constant<V>(kLog2e));
  V r = fma(n.value, constant<V>(-kLn2High), x);
  r = fma(n.value, constant<V>(-kLn2Low), r);
  const V p = horner(r, 0x1.6a5e34p-10f, 0x1.123adp-7f, 0x1.5558a2p-5f, 0x1.55549p-3f,
                     0x1.fffffcp-2f, 1.0f);
  return {r, p, n};
}

// REQUIRES: |x| <= 126.
template <class V>
V exp_clamped(V x) {
  const ExpParts<V> e = exp_parts(x);
  return scale(fma(e.r, e.p, constant<V>(1.0f)), e.n.integer);
}

}  // namespace elementary

// e^x. Overflows to infinity, underflows through the subnormals to +0.
template <class V>
V exp_lanes(V x) {
  const V y = elementary::exp_clamped(elementary::clamp(x, -105.0f, 90.0f));
  return select(x == x, y, elementary::canonical_nan<V>());
}

// 2^x; exact where x is an integer.
template <class V>
V exp2_lanes(V x) {
  using namespace elementary;
  const V clamped = clamp(x, -151.0f, 129.0f);
  const Rounded<V> n = round_to_integer(clamped);
  const V r = clamped - n.value;
  // 2^r on |r| <= 1/2, relative error 3.7e-9.
  const V p = horner(r, 0x1.3fad5cp-13f, 0x1.5f0ca8p-10f, 0x1.3b3096p-7f, 0x1.c6af74p-5f,
                     0x1.ebfbd8p-3f, 0x1.62e43p-1f, 1.0f);
  return select(x == x, scale(p, n.integer), canonical_nan<V>());
}

// Natural logarithm. log(±0) = -inf, log(x < 0) = NaN.
template <class V>
V log_lanes(V x) {
  using namespace elementary;
  using Int = typename V::Int;
  constexpr int32_t kTwoThirdsBits = 0x3F2AAAAB;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  const typename V::Mask is_subnormal = x < constant<V>(0x1p-126f);
  const V normal = select(is_subnormal, x * constant<V>(0x1p23f), x);
  // x = 2^e * (1 + f), 1 + f in [2/3, 4/3).
  const Int offset = bits(normal) - Int::broadcast(kTwoThirdsBits);
  const V f = from_bits((offset & Int::broadcast(0x007FFFFF)) + Int::broadcast(kTwoThirdsBits)) -
              constant<V>(1.0f);
  const V e = to_float(shift_right<23>(offset)) -
              select(is_subnormal, constant<V>(23.0f), constant<V>(0.0f));
  // log(1 + f) = f + f^2 q(f), relative error 4.9e-9.
  const V q = horner(f, -0x1.06cdfap-3f, 0x1.1ec6e2p-3f, -0x1.f3a7dep-4f, 0x1.1ec0dp-3f,
                     -0x1.559802p-3f, 0x1.99d1c6p-3f, -0x1.ffff14p-3f, 0x1.555502p-2f, -0x1p-1f);
  // e ln 2 + f as sum + lost, without error (|e ln 2| >= |f|, or e = 0).
  const V e_ln2 = e * constant<V>(kLn2High);
  const V sum = e_ln2 + f;
  const V lost = f - (sum - e_ln2);
  V y = sum + fma(f * f, q, fma(e, constant<V>(kLn2Low), lost));
  const V infinity = from_bits(Int::broadcast(0x7F800000));
  y = select(x < infinity, y, x);
  y = select(x == constant<V>(0.0f), constant<V>(0.0f) - infinity, y);
  return select(x < constant<V>(0.0f), canonical_nan<V>(), select(x == x, y, canonical_nan<V>()));
}

// tanh; odd, -0 gives -0.
template <class V>
V tanh_lanes(V x) {
  using namespace elementary;
  using Int = typename V::Int;
  const Int sign = bits(x) & Int::broadcast(INT32_MIN);
  const V magnitude = clamp(from_bits(bits(x) & Int::broadcast(INT32_MAX)), 0.0f, 10.0f);
  // Below 1: x + x^3 p(x^2), relative error 5.3e-10.
  const V z = magnitude * magnitude;
  const V p = horner(z, 0x1.f76cb4p-14f, -0x1.b5d39p-11f, 0x1.922872p-9f, -0x1.195694p-7f,
                     0x1.64d7eep-6f, -0x1.b9f914p-5f, 0x1.111046p-3f, -0x1.555552p-2f);
  const V small = fma(magnitude * z, p, magnitude);
  // From 1 on: 1 - 2 / (e^2x + 1), where e^2x + 1 = (2^n + 1) + 2^n r p.
  const ExpParts<V> e = exp_parts(magnitude + magnitude);
  const V power = power_of_two<V>(e.n.integer);
  const V denominator = fma(power, e.r * e.p, power + constant<V>(1.0f));
  const V large = constant<V>(1.0f) - constant<V>(2.0f) / denominator;
  const V y = select(magnitude < constant<V>(1.0f), small, large);
  return select(x == x, from_bits(bits(y) | sign), canonical_nan<V>());
}

// The error function; odd, -0 gives -0.
template <class V>
V erf_lanes(V x) {
  using namespace elementary;
  using Int = typename V::Int;
  const Int sign = bits(x) & Int::broadcast(INT32_MIN);
  const V magnitude = clamp(from_bits(bits(x) & Int::broadcast(INT32_MAX)), 0.0f,
                            3.9296875f);  // erf rounds to 1 there
  // Below 1: x + x p(x^2), relative error 1.5e-9.
  const V z = magnitude * magnitude;
  const V p = horner(z, 0x1.4917a4p-14f, -0x1.a3d812p-11f, 0x1.540172p-8f, -0x1.b7f88cp-6f,
                     0x1.ce2cf2p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f);
  const V small = fma(magnitude, p, magnitude);
  // From 1 on: 1 - exp(-x - x g(x)), g = -log(erfc(x)) / x - 1; absolute error of the result
  // 3.2e-9. Below, g is -g and `lost` what the rounding of the exponent left over, given back to
  // first order: e^(a + lost) = e^a + e^a lost.
  const V g = horner(magnitude, -0x1.da3f42p-17f, 0x1.7171fcp-12f, -0x1.ed70cep-9f, 0x1.89a23ap-6f,
                     -0x1.b46cdp-4f, -0x1.451942p-1f, -0x1.07926p-3f);
  const V negative = constant<V>(0.0f) - magnitude;
  const V exponent = fma(g, magnitude, negative);
  const V lost = fma(g, magnitude, negative - exponent);
  const V erfc = exp_clamped(exponent);
  const V large = constant<V>(1.0f) - fma(erfc, lost, erfc);
  const V y = select(magnitude < constant<V>(1.0f), small, large);
  return select(x == x, from_bits(bits(y) | sign), canonical_nan<V>());
}

}  // namespace isobit

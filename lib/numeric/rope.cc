#include "numeric/rope.h"

#include <bit>
#include <cmath>

#include "base/error.h"
#include "numeric/double_double.h"

namespace isobit {
namespace {

// pi/2 as an unevaluated sum, and the bound on its neglected rest times a multiple below 2^31:
// 2^-130.
constexpr double kHalfPi[4] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110,
                               0x1.4cf98e804177dp-164};
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kRoundShift = 0x1.8p52;

// angle = multiple * pi/2 + r, |r| <= pi/4 and a little. The first product's fma leaves no error
// (the difference fits 53 bits for angles that are multiples of 2^-52), the others are carried in
// `lo`.
struct Reduced {
  DoubleDouble r;
  uint64_t multiple;  // modulo 4 is what matters
};

Reduced reduce(double angle) {
  const double k = (angle * kTwoOverPi + kRoundShift) - kRoundShift;
  const double r1 = std::fma(-k, kHalfPi[0], angle);
  const DoubleDouble product = two_product(k, kHalfPi[1]);
  const DoubleDouble r2 = two_sum(r1, -product.hi);
  const DoubleDouble r = quick_two_sum(r2.hi, r2.lo - product.lo - k * kHalfPi[2]);
  return {r, static_cast<uint64_t>(static_cast<int64_t>(k))};
}

Reduced reduce_with_more_bits(double angle) {
  const double k = (angle * kTwoOverPi + kRoundShift) - kRoundShift;
  DoubleDouble r{angle};
  for (const double part : kHalfPi) r = r - two_product(k, part);
  return {r, static_cast<uint64_t>(static_cast<int64_t>(k))};
}

// Taylor's series on |r| <= 0.79: truncation below 2^-60, rounding below 2^-51 relative.
double sine_series(DoubleDouble r) {
  constexpr double kCoefficient[8] = {
      -0x1.5555555555555p-3,  0x1.1111111111111p-7,  -0x1.a01a01a01a01ap-13, 0x1.71de3a556c734p-19,
      -0x1.ae64567f544e4p-26, 0x1.6124613a86d09p-33, -0x1.ae7f3e733b81fp-41, 0x1.952c77030ad4ap-49};
  const double z = r.hi * r.hi;
  double p = kCoefficient[7];
  for (int i = 6; i >= 0; --i) p = p * z + kCoefficient[i];
  return r.hi + (r.hi * z * p + r.lo * (1.0 - 0.5 * z));
}

double cosine_series(DoubleDouble r) {
  constexpr double kCoefficient[8] = {
      0x1.5555555555555p-5,  -0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-16, -0x1.27e4fb7789f5cp-22,
      0x1.1eed8eff8d898p-29, -0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-45, -0x1.6827863b97d97p-53};
  const double z = r.hi * r.hi;
  double p = kCoefficient[7];
  for (int i = 6; i >= 0; --i) p = p * z + kCoefficient[i];
  return 1.0 + (z * (z * p - 0.5) - r.lo * r.hi);
}

// sin and cos of the angle from those of r: a rotation by `multiple` quarter turns.
template <class T>
void turn(uint64_t multiple, T& sin, T& cos) {
  if (multiple & 1) {
    const T old_sin = sin;
    sin = cos;
    cos = -old_sin;
  }
  if (multiple & 2) {
    sin = -sin;
    cos = -cos;
  }
}

// The nearest f32, if a relative error of 2^-48 (more than six times the bound above and that of
// one multiplication) cannot change it.
bool certain_f32(double value, float& nearest) {
  constexpr double kBound = 0x1p-48;
  nearest = static_cast<float>(value);
  return static_cast<float>(value - value * kBound) == nearest &&
         static_cast<float>(value + value * kBound) == nearest;
}

// hi + lo rounded once. binary64 hi is rounded to odd where lo is not zero, which makes the second
// rounding innocuous.
float round_once(DoubleDouble v) {
  const auto nearest = static_cast<float>(v.hi);
  if (v.lo == 0) return nearest;
  const auto odd = static_cast<bool>(std::bit_cast<uint64_t>(v.hi) & 1);
  if (odd) return nearest;
  return static_cast<float>(std::nextafter(v.hi, v.lo > 0 ? INFINITY : -INFINITY));
}

}  // namespace

SinCos nearest_sin_cos_by_double_double(double angle, double factor) {
  const Reduced reduced = reduce_with_more_bits(angle);
  DoubleDouble sin = sine(reduced.r), cos = cosine(reduced.r);
  turn(reduced.multiple, sin, cos);
  const DoubleDouble scale{factor};
  return {round_once(sin * scale), round_once(cos * scale)};
}

SinCos nearest_sin_cos(double angle, double factor) {
  const Reduced reduced = reduce(angle);
  double sin = sine_series(reduced.r), cos = cosine_series(reduced.r);
  turn(reduced.multiple, sin, cos);
  SinCos result{};
  if (certain_f32(sin * factor, result.sin) && certain_f32(cos * factor, result.cos)) return result;
  return nearest_sin_cos_by_double_double(angle, factor);
}

RopeTable make_rope_table(std::span<const float> inverse_frequencies, int64_t n_positions,
                          double attention_factor) {
  ISOBIT_REQUIRE(n_positions >= 0 && n_positions <= int64_t{1} << 24 && attention_factor > 0);
  RopeTable table{n_positions, static_cast<int64_t>(inverse_frequencies.size()), {}, {}};
  table.cos.reserve(inverse_frequencies.size() * static_cast<size_t>(n_positions));
  table.sin.reserve(table.cos.capacity());
  for (int64_t position = 0; position < n_positions; ++position) {
    for (const float frequency : inverse_frequencies) {
      // Exact: 24 bits times 24 bits.
      const SinCos entry = nearest_sin_cos(
          static_cast<double>(position) * static_cast<double>(frequency), attention_factor);
      table.cos.push_back(entry.cos);
      table.sin.push_back(entry.sin);
    }
  }
  return table;
}

}  // namespace isobit

// About 100 bits of precision from pairs of binary64: for the few host-side values whose nearest
// f32 must be known for certain (rope tables and frequencies). Slow and used rarely.
//
// A value is hi + lo with |lo| <= ulp(hi) / 2. Sums and products are the textbook error-free
// transformations (Dekker 1971; Shewchuk 1997); relative error of each operation below 2^-100.
#pragma once

#include <cmath>

namespace isobit {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

// a + b exactly.
inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// a + b exactly. REQUIRES: |a| >= |b|.
inline DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a * b exactly, barring underflow.
inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = two_sum(a.hi, b.hi), low = two_sum(a.lo, b.lo);
  const DoubleDouble first = quick_two_sum(high.hi, high.lo + low.hi);
  return quick_two_sum(first.hi, first.lo + low.lo);
}

inline DoubleDouble operator-(DoubleDouble a) {
  return {-a.hi, -a.lo};
}
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) {
  return a + -b;
}

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = two_product(a.hi, b.hi);
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double q1 = a.hi / b.hi;
  const DoubleDouble rest = a - b * DoubleDouble{q1};
  const double q2 = rest.hi / b.hi;
  const double q3 = (rest - b * DoubleDouble{q2}).hi / b.hi;
  return DoubleDouble{q1} + DoubleDouble{q2} + DoubleDouble{q3};
}

inline DoubleDouble times_power_of_two(DoubleDouble a, int exponent) {
  return {std::ldexp(a.hi, exponent), std::ldexp(a.lo, exponent)};
}

// base^exponent. REQUIRES: base > 0 and the result far from overflow and underflow.
DoubleDouble power(double base, double exponent);

// The natural logarithm. REQUIRES: x positive and finite.
DoubleDouble natural_log(double x);

// sin and cos of r for |r| <= 0.8; relative error below 2^-90.
DoubleDouble sine(DoubleDouble r);
DoubleDouble cosine(DoubleDouble r);

}  // namespace isobit

#include "numeric/double_double.h"

#include "base/error.h"

namespace isobit {
namespace {

constexpr DoubleDouble kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// log of m in [0.7, 1.42]: 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.18; 24 terms leave 2^-120.
DoubleDouble log_of_mantissa(double m) {
  const DoubleDouble s = (DoubleDouble{m} - DoubleDouble{1}) / (DoubleDouble{m} + DoubleDouble{1});
  const DoubleDouble s_squared = s * s;
  DoubleDouble odd_power = s, sum = s;
  for (int k = 3; k < 49; k += 2) {
    odd_power = odd_power * s_squared;
    sum = sum + odd_power / DoubleDouble{static_cast<double>(k)};
  }
  return times_power_of_two(sum, 1);
}

// Taylor's series of e^(r / 256), then squared eight times.
DoubleDouble exponential(DoubleDouble x) {
  const double n = std::nearbyint(x.hi / kLn2.hi);
  const DoubleDouble r = times_power_of_two(x - kLn2 * DoubleDouble{n}, -8);
  DoubleDouble term{1}, sum{1};
  for (int k = 1; k < 14; ++k) {
    term = term * r / DoubleDouble{static_cast<double>(k)};
    sum = sum + term;
  }
  for (int i = 0; i < 8; ++i) sum = sum * sum;
  return times_power_of_two(sum, static_cast<int>(n));
}

// first * (1 - r^2/(k+1)(k+2) + ...), the common shape of both series; 14 terms leave less than
// 2^-100.
DoubleDouble alternating_series(DoubleDouble first, DoubleDouble r, int k) {
  const DoubleDouble r_squared = r * r;
  DoubleDouble term = first, sum = first;
  for (int i = 0; i < 14; ++i, k += 2) {
    term = -(term * r_squared) / DoubleDouble{static_cast<double>((k + 1) * (k + 2))};
    sum = sum + term;
  }
  return sum;
}

}  // namespace

DoubleDouble natural_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [1/2, 1)
  if (m < 0.7071) {
    m *= 2;
    --exponent;
  }
  return log_of_mantissa(m) + kLn2 * DoubleDouble{static_cast<double>(exponent)};
}

DoubleDouble power(double base, double exponent) {
  ISOBIT_REQUIRE(base > 0);
  return exponential(natural_log(base) * DoubleDouble{exponent});
}

DoubleDouble sine(DoubleDouble r) {
  return alternating_series(r, r, 1);
}
DoubleDouble cosine(DoubleDouble r) {
  return alternating_series({1}, r, 0);
}

}  // namespace isobit

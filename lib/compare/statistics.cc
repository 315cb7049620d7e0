#include "compare/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace isobit {
namespace {

constexpr double kZ95 = 1.959963984540054;  // the normal distribution's 97.5 % point
constexpr double kAlpha = 0.05;

// P(X <= k) for X ~ Binomial(n, p), summed from the largest exponent down so that nothing
// underflows early.
double binomial_cdf(int64_t k, int64_t n, double p) {
  const double log_odds = std::log(p) - std::log1p(-p);
  double log_term = static_cast<double>(n) * std::log1p(-p);
  double sum = std::exp(log_term);
  for (int64_t i = 0; i < k; ++i) {
    log_term += std::log(static_cast<double>(n - i) / static_cast<double>(i + 1)) + log_odds;
    sum += std::exp(log_term);
  }
  return sum;
}

}  // namespace

Interval wilson_interval95(int64_t successes, int64_t trials) {
  ISOBIT_REQUIRE(successes >= 0 && successes <= trials);
  if (trials == 0) return {.low = 0, .high = 1};
  const double n = static_cast<double>(trials);
  const double rate = static_cast<double>(successes) / n;
  const double z2 = kZ95 * kZ95;
  const double centre = (rate + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kZ95 / (1 + z2 / n) * std::sqrt(rate * (1 - rate) / n + z2 / (4 * n * n));
  // The ends touch 0 and 1 exactly where the formula does; rounding must not push them off.
  return {.low = successes == 0 ? 0 : std::max(0.0, centre - half),
          .high = successes == trials ? 1 : std::min(1.0, centre + half)};
}

double failure_rate_bound95(int64_t failures, int64_t trials) {
  ISOBIT_REQUIRE(failures >= 0 && failures <= trials);
  if (failures == trials) return 1;  // also: no trials, nothing known
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {  // the tail falls monotonically in p
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (binomial_cdf(failures, trials, middle) >= kAlpha ? low : high) = middle;
  }
  return high;
}

Proportion proportion(int64_t matches, int64_t trials) {
  return {.matches = matches,
          .trials = trials,
          .wilson95 = wilson_interval95(matches, trials),
          .failure_bound95 = failure_rate_bound95(trials - matches, trials)};
}

}  // namespace isobit

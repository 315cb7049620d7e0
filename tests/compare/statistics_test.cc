#include "compare/statistics.h"

#include <doctest/doctest.h>

using namespace isobit;

// Expected values: scipy.stats.beta.ppf(0.95, k + 1, n - k) and statsmodels' proportion_confint(method="wilson").
TEST_CASE("no failures in 64 prompts still allow a failure rate of 4.6 %") {
  CHECK(failure_rate_bound95(0, 64) == doctest::Approx(0.0457295).epsilon(1e-5));
  CHECK(failure_rate_bound95(0, 1) == doctest::Approx(0.95));
  CHECK(failure_rate_bound95(0, 0) == 1);
}

// Do the intervals cover what they promise? Exact, by summing the binomial distribution: no
// simulation, no seed.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "compare/statistics.h"

using namespace isobit;

namespace {

double binomial(int k, int n, double p) {
  const double log_choose = std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
  return std::exp(log_choose + k * std::log(p) + (n - k) * std::log1p(-p));
}

struct Coverage {
  double mean = 0;
  double least = 1;
  int least_n = 0;
  double least_p = 0;
};

// `covers(k, n, p)`: does the estimate from k of n hold the true rate p? Over n of 8 to 256 prompts
// and rates of 1 to 99 %.
template <typename F>
Coverage coverage_of(F&& covers) {
  Coverage coverage;
  int n_points = 0;
  for (const int n : {8, 16, 32, 64, 128, 256}) {
    for (int percent = 1; percent <= 99; ++percent) {
      const double p = percent / 100.0;
      double covered = 0;
      for (int k = 0; k <= n; ++k) covered += covers(k, n, p) ? binomial(k, n, p) : 0;
      coverage.mean += covered;
      ++n_points;
      if (covered < coverage.least)
        coverage = {.mean = coverage.mean, .least = covered, .least_n = n, .least_p = p};
    }
  }
  coverage.mean /= n_points;
  return coverage;
}

}  // namespace

TEST_CASE("Wilson's interval covers 95 % on average, and less only near the ends") {
  const Coverage coverage = coverage_of([](int k, int n, double p) {
    const Interval interval = wilson_interval95(k, n);
    return interval.low <= p && p <= interval.high;
  });
  MESSAGE("on average " << coverage.mean << ", at least " << coverage.least
                        << " (at n = " << coverage.least_n << ", p = " << coverage.least_p << ")");
  CHECK(coverage.mean > 0.945);
  CHECK(coverage.mean < 0.965);
  CHECK(coverage.least > 0.82);
}

TEST_CASE("Clopper and Pearson's bound never covers less than 95 %") {
  const Coverage coverage =
      coverage_of([](int k, int n, double p) { return p <= failure_rate_bound95(k, n); });
  MESSAGE("on average " << coverage.mean << ", at least " << coverage.least
                        << " (at n = " << coverage.least_n << ", p = " << coverage.least_p << ")");
  CHECK(coverage.least >= 0.95 - 1e-9);
}

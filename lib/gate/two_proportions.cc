#include "gate/two_proportions.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace isobit {
namespace {

double log_choose(int64_t n, int64_t k) {
  // lgamma writes a global sign on some systems; all its arguments here are positive, so that it
  // does not matter.
  return std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(k) + 1) -
         std::lgamma(static_cast<double>(n - k) + 1);
}

double rate_of(const Failures& f) {
  return static_cast<double>(f.failures) / static_cast<double>(f.trials);
}

void require_counts(const Failures& f) {
  ISOBIT_REQUIRE(f.failures >= 0 && f.failures <= f.trials);
}

}  // namespace

double fisher_p_value(const Failures& candidate, const Failures& noise) {
  require_counts(candidate);
  require_counts(noise);
  if (candidate.failures == 0 || noise.trials == 0) return 1;
  const int64_t all = candidate.failures + noise.failures;
  const int64_t trials = candidate.trials + noise.trials;
  const double log_total = log_choose(trials, all);
  double p = 0;
  for (int64_t k = candidate.failures; k <= std::min(all, candidate.trials); ++k) {
    if (all - k > noise.trials) continue;
    p += std::exp(log_choose(candidate.trials, k) + log_choose(noise.trials, all - k) - log_total);
  }
  return std::min(1.0, p);
}

Interval newcombe_interval95(const Failures& candidate, const Failures& noise) {
  require_counts(candidate);
  require_counts(noise);
  if (candidate.trials == 0 || noise.trials == 0) return {.low = -1, .high = 1};
  const Interval c = wilson_interval95(candidate.failures, candidate.trials);
  const Interval n = wilson_interval95(noise.failures, noise.trials);
  const double pc = rate_of(candidate), pn = rate_of(noise);
  return {.low = pc - pn - std::hypot(pc - c.low, n.high - pn),
          .high = pc - pn + std::hypot(c.high - pc, pn - n.low)};
}

}  // namespace isobit

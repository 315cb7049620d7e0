// Two interval estimates for a proportion, so that no rate is printed bare.
//
// Wilson's score interval (Wilson 1927) for rates; Clopper and Pearson's exact bound (1934) for
// "how large can the true failure rate be, given what we saw", which says something useful even
// after zero failures: 0 of 64 allows 4.6 %.
#pragma once

#include <cstdint>

namespace isobit {

struct Interval {
  double low = 0;
  double high = 1;
};

// Two-sided 95 % interval for successes / trials. [0, 1] when there were no trials.
// REQUIRES: 0 <= successes <= trials.
Interval wilson_interval95(int64_t successes, int64_t trials);

// The largest failure rate p with P(at most `failures` of `trials` fail | p) >= 5 %. 1 when there
// were no trials. REQUIRES: 0 <= failures <= trials.
double failure_rate_bound95(int64_t failures, int64_t trials);

// A rate counted in prompts, with both estimates.
struct Proportion {
  int64_t matches = 0;
  int64_t trials = 0;
  Interval wilson95;
  double failure_bound95 = 1;
};
Proportion proportion(int64_t matches, int64_t trials);

}  // namespace isobit

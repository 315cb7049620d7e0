// Do two groups of prompts differ at different rates? What level 0 asks: the candidate's answers
// against the base's, and the base's repeats among themselves.
#pragma once

#include <cstdint>

#include "compare/statistics.h"

namespace isobit {

struct Failures {
  int64_t failures = 0;
  int64_t trials = 0;
};

// P(at least this many of all failures fall to the candidate), given that both fail at one rate:
// Fisher's exact test, one-sided (R. A. Fisher, Statistical Methods for Research Workers, 1934,
// section 21.02). Exact given the margins, so a true null is rejected at 5 % in at most 5 % of
// cases. 1 where either side has no trials.
// REQUIRES: 0 <= failures <= trials.
double fisher_p_value(const Failures& candidate, const Failures& noise);

// Two-sided 95 % interval of the candidate's rate minus the noise's: R. G. Newcombe, Interval
// estimation for the difference between independent proportions, Statistics in Medicine 17 (1998)
// 873-890, method 10, from both sides' Wilson intervals. [-1, 1] where either side has no trials.
// REQUIRES: 0 <= failures <= trials.
Interval newcombe_interval95(const Failures& candidate, const Failures& noise);

}  // namespace isobit

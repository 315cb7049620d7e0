// How long answers stay the same: the share of pairs that have not split yet, by position.
//
// Kaplan and Meier's product-limit estimate (1958): an answer that ends without having split is
// censored there, so that short answers are not taken for stable ones. Intervals: Greenwood's
// variance on the log(-log) scale (Kalbfleisch and Prentice 2002, section 1.4.1), which stay inside
// 0 and 1. They count pairs as independent.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/statistics.h"

namespace isobit {

struct Lifetime {
  int32_t positions = 0;  // the same so far
  bool split = false;     // then the tokens differed; else the answer ended, or was cut
};

struct SurvivalPoint {
  int32_t position = 0;   // where some pairs split
  int64_t n_at_risk = 0;  // pairs that were the same up to here and went on
  int64_t n_splits = 0;
  double share_same = 1;  // after this position
  Interval interval95;
};

// One point per position at which a pair split, ascending. Empty: none did.
std::vector<SurvivalPoint> survival_curve(std::vector<Lifetime> lifetimes);

}  // namespace isobit

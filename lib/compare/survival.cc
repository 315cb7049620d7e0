#include "compare/survival.h"

#include <algorithm>
#include <cmath>

namespace isobit {
namespace {

constexpr double kZ95 = 1.959963984540054;

Interval log_log_interval(double share, double greenwood_sum) {
  if (share <= 0) return {.low = 0, .high = 0};
  const double log_share = std::log(share);
  const double half = kZ95 * std::sqrt(greenwood_sum) / std::fabs(log_share);
  return {.low = std::exp(log_share * std::exp(half)),
          .high = std::exp(log_share * std::exp(-half))};
}

}  // namespace

std::vector<SurvivalPoint> survival_curve(std::vector<Lifetime> lifetimes) {
  // At one position, splits come before ends: an answer of 4 positions was at risk at 0 to 3 only.
  std::sort(lifetimes.begin(), lifetimes.end(), [](const Lifetime& a, const Lifetime& b) {
    return a.positions != b.positions ? a.positions < b.positions : !a.split && b.split;
  });
  std::vector<SurvivalPoint> curve;
  double share = 1;
  double greenwood_sum = 0;
  for (size_t i = 0; i < lifetimes.size();) {
    const int32_t at = lifetimes[i].positions;
    while (i < lifetimes.size() && lifetimes[i].positions == at && !lifetimes[i].split) ++i;
    const size_t first_split = i;
    while (i < lifetimes.size() && lifetimes[i].positions == at) ++i;
    if (i == first_split) continue;
    const auto n_at_risk = static_cast<double>(lifetimes.size() - first_split);
    const auto n_splits = static_cast<double>(i - first_split);
    share *= 1 - n_splits / n_at_risk;
    greenwood_sum += n_splits / (n_at_risk * (n_at_risk - n_splits));
    curve.push_back({.position = at,
                     .n_at_risk = static_cast<int64_t>(n_at_risk),
                     .n_splits = static_cast<int64_t>(n_splits),
                     .share_same = share,
                     .interval95 = log_log_interval(share, greenwood_sum)});
  }
  return curve;
}

}  // namespace isobit

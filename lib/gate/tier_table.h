// What each tier of requests gets, and what it costs: the two sides of running some requests
// deterministically and the rest as fast as can be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/figure.h"
#include "gate/selection.h"

namespace isobit {

struct TierResult {
  Tier tier;
  int64_t n_prompts = 0;
  Figure match;  // the share of its prompts that are the same at the tier's level
  // Of its answers on both sides; absent where no times are recorded.
  std::optional<Timings> base, candidate;
};

// In the order of the policy; empty where it has no tiers.
std::vector<TierResult> tier_table(const RunComparison& comparison, const TierList& tiers,
                                   const Waivers& waivers);

}  // namespace isobit

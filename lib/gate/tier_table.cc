#include "gate/tier_table.h"

#include <set>

#include "gate/figure_counting.h"

namespace isobit {
namespace {

Selection tier_selection(const RunComparison& comparison, const TierList& tiers, size_t tier,
                         const Waivers& waivers) {
  Rule everything;
  everything.id = "tier-table";
  return std::move(select(everything, comparison, waivers, &tiers, tier).front());
}

TierResult tier_result(const Tier& tier, const Selection& selection) {
  TierResult result;
  result.tier = tier;
  std::set<int32_t> prompts;
  each_pair(selection, [&](const CellComparison&, const PairComparison& pair) {
    prompts.insert(pair.prompt_index);
  });
  result.n_prompts = static_cast<int64_t>(prompts.size());
  result.match =
      tier.level == Level::kBitwise ? bit_match_rate(selection) : token_match_rate(selection);
  result.base = timings_of(selection, TimedSide::kReference);
  result.candidate = timings_of(selection, TimedSide::kCandidate);
  return result;
}

}  // namespace

std::vector<TierResult> tier_table(const RunComparison& comparison, const TierList& tiers,
                                   const Waivers& waivers) {
  std::vector<TierResult> table;
  for (size_t i = 0; tiers.divided() && i < tiers.tiers().size(); ++i) {
    table.push_back(tier_result(tiers.tiers()[i], tier_selection(comparison, tiers, i, waivers)));
  }
  return table;
}

}  // namespace isobit

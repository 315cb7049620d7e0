// The JSON forms of a comparison's figures, and what all JSON here shares: absent evidence is null.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "base/json.h"
#include "compare/run_comparison.h"

namespace isobit {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// JSON has no infinities; the bits beside the number tell them apart from an absent value.
inline Json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}
inline Json number_or_null(std::optional<float> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

template <typename T, typename F>
Json array_of(const std::vector<T>& items, F&& to_json) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

Json drift_json(const std::optional<Drift>& drift);
Json gap_drift_json(const std::optional<GapDrift>& drift);
Json interval_json(const Interval& interval);
Json distinct_json(const DistinctOutputs& outputs);
Json survival_json(const SurvivalPoint& point);
Json spread_json(const AnswerSpread& spread);
Json group_spread_json(const GroupSpread& group);
Json price_json(const CellPrice& price);
Json price_ratio_json(const PriceRatio& ratio);
Json proportion_json(const Proportion& p);
Json kind_json(DivergenceKind kind);
Json kind_count_json(const KindCount& count);
Json attribution_json(const Attribution& attribution);
Json shared_suspicion_json(const SharedSuspicion& together);
Json agreement_json(const TextAgreement& agreement);
Json cell_agreement_json(const CellAgreement& agreement);
Json flip_law_json(const FlipLawResult& result);
Json certificates_json(const Certificates& certificates);

}  // namespace isobit

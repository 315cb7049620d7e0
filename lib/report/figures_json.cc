#include "report/figures_json.h"

#include "report/untrusted_text.h"

namespace isobit {
namespace {

Json times_json(const std::optional<Times>& times) {
  if (!times) return {};
  return {{"mean", times->mean}, {"p50", times->p50}, {"p95", times->p95}, {"p99", times->p99}};
}

}  // namespace

Json drift_json(const std::optional<Drift>& drift) {
  if (!drift) return {};
  return {{"nats", drift->nats},
          {"nats_position", drift->nats_position},
          {"ulp", drift->ulp},
          {"ulp_position", drift->ulp_position}};
}

Json gap_drift_json(const std::optional<GapDrift>& drift) {
  if (!drift) return {};
  return {{"nats", drift->nats}, {"position", drift->position}};
}

Json interval_json(const Interval& interval) {
  return {interval.low, interval.high};
}

Json distinct_json(const DistinctOutputs& outputs) {
  return {{"prompt", outputs.prompt_index},       {"request", json_text(outputs.request_id)},
          {"sample_index", outputs.sample_index}, {"answers", outputs.n_answers},
          {"distinct", outputs.n_distinct},       {"most_common", outputs.n_most_common},
          {"first_split", outputs.first_split}};
}

Json survival_json(const SurvivalPoint& point) {
  return {{"position", point.position},
          {"at_risk", point.n_at_risk},
          {"splits", point.n_splits},
          {"share_same", point.share_same},
          {"interval95", interval_json(point.interval95)}};
}

Json spread_json(const AnswerSpread& spread) {
  return {{"prompts", spread.n_prompts},
          {"std_length", or_null(spread.std_length)},
          {"div_indices", spread.div_indices},
          {"mean_div_index", or_null(spread.mean_div_index)},
          {"std_top1_prob", or_null(spread.std_top1_prob)}};
}

Json group_spread_json(const GroupSpread& group) {
  return {{"reference", json_text(group.reference_name)}, {"spread", spread_json(group.spread)}};
}

Json price_json(const CellPrice& price) {
  return {{"timed", price.n_timed},
          {"clock_jumps", price.n_clock_jumps},
          {"tokens_per_s", or_null(price.tokens_per_s)},
          {"ttft_ms", times_json(price.ttft_ms)},
          {"latency_ms", times_json(price.latency_ms)}};
}

Json price_ratio_json(const PriceRatio& ratio) {
  return {{"tokens_per_s", or_null(ratio.tokens_per_s)},
          {"ttft_p50", or_null(ratio.ttft_p50)},
          {"latency_p50", or_null(ratio.latency_p50)},
          {"latency_p95", or_null(ratio.latency_p95)}};
}

}  // namespace isobit

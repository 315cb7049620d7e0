#include "report/figures_json.h"

#include "report/untrusted_text.h"

namespace isobit {
namespace {

Json times_json(const std::optional<Times>& times) {
  if (!times) return {};
  return {{"mean", times->mean}, {"p50", times->p50}, {"p95", times->p95}, {"p99", times->p99}};
}

Json estimate_json(const Estimate95& estimate) {
  return {{"value", estimate.value}, {"interval95", interval_json(estimate.interval95)}};
}

Json fit_json(const std::optional<GoodnessOfFit>& fit) {
  if (!fit) return {};
  return {{"chi_squared", fit->chi_squared},
          {"degrees_of_freedom", fit->degrees_of_freedom},
          {"p_value", fit->p_value}};
}

Json law_json(const FlipLaw& law) {
  return {{"intercept", estimate_json(law.intercept)},
          {"slope", estimate_json(law.slope)},
          {"ratio_1_percent", estimate_json(law.ratio_1_percent)},
          {"ratio_25_percent", estimate_json(law.ratio_25_percent)},
          {"goodness_of_fit", fit_json(law.fit)},
          {"median_drift_nats", law.median_drift_nats},
          {"max_drift_nats", law.max_drift_nats}};
}

Json summary_json(const std::optional<AgreementSummary>& summary) {
  if (!summary) return {};
  return {{"pairs", summary->n}, {"mean", summary->mean}, {"min", summary->min}};
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(json_text(text));
}

Json prompt_margin_json(const PromptMargin& prompt) {
  return {{"prompt", prompt.prompt_index},
          {"request", json_text(prompt.request_id)},
          {"least_margin", prompt.least_margin_nats},
          {"position", prompt.position},
          {"certified", prompt.certified},
          {"within_noise", prompt.within_noise}};
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
  return {{"nats", number_or_null(std::optional(drift->nats))}, {"position", drift->position}};
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

Json proportion_json(const Proportion& p) {
  return {{"matches", p.matches},
          {"trials", p.trials},
          {"wilson95", interval_json(p.wilson95)},
          {"failure_bound95", p.failure_bound95}};
}

Json kind_json(DivergenceKind kind) {
  return name(kind);
}

Json kind_count_json(const KindCount& count) {
  return {{"kinds", array_of(count.kinds, kind_json)},
          {"decided", count.kinds.size() == 1},
          {"numeric_divergences", count.numeric_divergences},
          {"token_divergences", count.token_divergences}};
}

Json attribution_json(const Attribution& attribution) {
  return {{"kinds", array_of(attribution.kinds, kind_json)},
          {"decided", attribution.decided()},
          {"reason", json_text(attribution.reason)}};
}

Json shared_suspicion_json(const SharedSuspicion& together) {
  Json requests = Json::array();
  for (const std::string& id : together.request_ids) requests.push_back(json_text(id));
  return {{"repeat", together.repeat},
          {"first_position", together.first_position},
          {"last_position", together.last_position},
          {"requests", std::move(requests)}};
}

Json agreement_json(const TextAgreement& agreement) {
  return {{"edit_similarity", agreement.edit_similarity},
          {"chrf", or_null(agreement.chrf)},
          {"cosine", or_null(agreement.cosine)}};
}

Json cell_agreement_json(const CellAgreement& agreement) {
  return {{"edit_similarity", summary_json(agreement.edit_similarity)},
          {"chrf", summary_json(agreement.chrf)},
          {"chrf_absent", text_or_null(agreement.chrf_absent)},
          {"cosine", summary_json(agreement.cosine)},
          {"cosine_absent", text_or_null(agreement.cosine_absent)}};
}

Json flip_law_json(const FlipLawResult& result) {
  return {{"rows", result.n_rows},
          {"flips", result.n_flips},
          {"rows_without_drift", result.n_without_drift},
          {"ties", result.n_ties},
          {"tie_flips", result.n_tie_flips},
          {"prompts", result.n_prompts},
          {"prompts_with_flips", result.n_prompts_with_flips},
          {"law", result.law ? law_json(*result.law) : Json()},
          {"refusal", text_or_null(result.refusal)}};
}

Json certificates_json(const Certificates& certificates) {
  return {{"two_epsilon", number_or_null(certificates.two_epsilon_nats)},
          {"rows", certificates.n_rows},
          {"cell", text_or_null(certificates.cell)},
          {"request", text_or_null(certificates.request_id)},
          {"position", certificates.position},
          {"certified", proportion_json(certificates.certified)},
          {"prompts", array_of(certificates.prompts, prompt_margin_json)},
          {"prompts_without_margins", certificates.n_without_margins},
          {"prompts_not_greedy", certificates.n_not_greedy},
          {"refusal", text_or_null(certificates.refusal)}};
}

}  // namespace isobit

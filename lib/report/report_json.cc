// The JSON forms of comparisons and verdicts. Keys keep one order, absent evidence is null, and
// logprobs carry their bits.
#include <cmath>

#include "compare/bits.h"
#include "report/figures_json.h"
#include "report/report.h"
#include "report/untrusted_text.h"
#include "report/valid_json.h"

namespace isobit {
namespace {

Json bits_or_null(std::optional<float> value) {
  return value ? Json(bits_text(*value)) : Json();
}

Json values_json(const std::map<std::string, std::string>& values) {
  Json object = Json::object();
  for (const auto& [axis, value] : values) object[json_text(axis)] = json_text(value);
  return object;
}

Json texts_json(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(json_text(text));
  return array;
}

Json counts_json(const PairCounts& c) {
  return {{"pairs", c.n_pairs},
          {"exact_matches", c.exact_matches},
          {"bit_matches", c.bit_matches},
          {"numeric_divergences", c.numeric_divergences},
          {"token_divergences", c.token_divergences},
          {"finish_differences", c.finish_differences},
          {"errors", c.errors},
          {"missing", c.missing},
          {"unsupported", c.unsupported},
          {"suspicious_flips", c.suspicious_flips}};
}

Json numeric_json(const std::optional<NumericDivergence>& d) {
  if (!d) return {};
  return {{"position", d->position},
          {"logits_hash_differs", d->logits_hash_differs},
          {"logprob_differs", d->logprob_differs},
          {"top_differs", d->top_differs},
          {"token", d->token_id},
          {"reference_logprob", number_or_null(d->reference_logprob)},
          {"reference_bits", bits_or_null(d->reference_logprob)},
          {"candidate_logprob", number_or_null(d->candidate_logprob)},
          {"candidate_bits", bits_or_null(d->candidate_logprob)},
          {"ulp", or_null(d->ulp)},
          {"nats", or_null(d->nats)},
          {"reference_margin", number_or_null(d->reference_margin)},
          {"candidate_margin", number_or_null(d->candidate_margin)}};
}

Json token_json(const std::optional<TokenDivergence>& d) {
  if (!d) return {};
  return {{"position", d->position},
          {"reference_token", or_null(d->reference_token)},
          {"candidate_token", or_null(d->candidate_token)},
          {"reference_margin", number_or_null(d->reference_margin)},
          {"candidate_margin", number_or_null(d->candidate_margin)},
          {"candidate_token_rank_in_reference", or_null(d->candidate_token_rank_in_reference)},
          {"reference_token_rank_in_candidate", or_null(d->reference_token_rank_in_candidate)},
          {"same_row", or_null(d->same_row)},
          {"top_agreement", or_null(d->top_agreement)},
          {"reference_margin_percentile", or_null(d->reference_margin_percentile)},
          {"candidate_margin_percentile", or_null(d->candidate_margin_percentile)}};
}

Json pair_key_json(const PairComparison& pair) {
  return {{"prompt", pair.prompt_index},
          {"request", json_text(pair.request_id)},
          {"sample_index", pair.sample_index},
          {"repeat", pair.repeat}};
}

// `position` and `margin` (the reference's) repeat the flip's where there is one, else the first
// numeric difference's.
Json divergence_json(const PairComparison& pair) {
  const Divergence& d = pair.divergence;
  Json object = pair_key_json(pair);
  object["kind"] = d.token ? "token" : "numeric";
  object["position"] = d.token ? d.token->position : d.numeric->position;
  object["margin"] =
      number_or_null(d.token ? d.token->reference_margin : d.numeric->reference_margin);
  object["flip"] = pair.flip ? Json(name(*pair.flip)) : Json();
  object["kinds"] = array_of(pair.kinds, kind_json);
  object["numeric"] = numeric_json(d.numeric);
  object["token"] = token_json(d.token);
  object["max_drift_before"] = drift_json(d.max_drift);
  object["top_agreement_before"] = or_null(d.top_agreement_before);
  object["forced_positions"] = d.n_forced;
  object["max_drift_forced"] = drift_json(d.max_drift_forced);
  object["top_agreement_after"] = or_null(d.top_agreement_after);
  object["argmax_flips"] = d.n_argmax_flips;
  object["positions_not_compared"] = d.n_not_compared;
  object["agreement"] = pair.agreement ? agreement_json(*pair.agreement) : Json();
  return object;
}

Json divergences_json(const CellComparison& cell) {
  Json array = Json::array();
  for (const PairComparison& pair : cell.pairs) {
    if (pair.state == PairState::kCompared && (pair.divergence.numeric || pair.divergence.token))
      array.push_back(divergence_json(pair));
  }
  return array;
}

Json gap_json(const EvidenceGap& gap) {
  return {{"kind", name(gap.kind)}, {"side", name(gap.side)}, {"position", or_null(gap.position)}};
}

// Pairs about which something is missing or only the ending differs: what the list of divergences
// does not show.
Json other_findings_json(const CellComparison& cell) {
  Json array = Json::array();
  for (const PairComparison& pair : cell.pairs) {
    const Divergence& d = pair.divergence;
    if (pair.state == PairState::kCompared && d.gaps.empty() && !d.finish_differs) continue;
    Json object = pair_key_json(pair);
    object["state"] = name(pair.state);
    object["gaps"] = Json::array();
    for (const EvidenceGap& gap : d.gaps) object["gaps"].push_back(gap_json(gap));
    const bool compared = pair.state == PairState::kCompared;
    object["reference_finish"] = compared ? Json(name(d.reference_finish)) : Json();
    object["candidate_finish"] = compared ? Json(name(d.candidate_finish)) : Json();
    object["reference_length"] = compared ? Json(d.reference_length) : Json();
    object["candidate_length"] = compared ? Json(d.candidate_length) : Json();
    array.push_back(std::move(object));
  }
  return array;
}

Json cell_json(const CellComparison& cell) {
  return {{"cell", json_text(cell.name)},
          {"values", values_json(cell.values)},
          {"reference", json_text(cell.reference_name)},
          {"is_reference", cell.is_reference},
          {"exercised", cell.exercised},
          {"not_exercised_reason",
           cell.exercised ? Json() : Json(json_text(cell.not_exercised_reason))},
          {"complete", cell.complete},
          {"samples", cell.n_samples},
          {"numeric_divergences", cell.counts.numeric_divergences},
          {"token_divergences", cell.counts.token_divergences},
          {"counts", counts_json(cell.counts)},
          {"token_match", proportion_json(cell.token_match)},
          {"bit_match", proportion_json(cell.bit_match)},
          {"distinct_outputs", cell.distinct_outputs},
          {"distinct", array_of(cell.distinct, distinct_json)},
          {"max_drift", drift_json(cell.max_drift)},
          {"max_gap_drift", gap_drift_json(cell.max_gap_drift)},
          {"forced_positions", cell.n_forced_positions},
          {"argmax_flips", cell.n_argmax_flips},
          {"top_agreement", or_null(cell.top_agreement)},
          {"top_agreement_after", or_null(cell.top_agreement_after)},
          {"survival", array_of(cell.survival, survival_json)},
          {"spread", spread_json(cell.spread)},
          {"price", price_json(cell.price)},
          {"reference_price", price_json(cell.reference_price)},
          {"price_ratio", price_ratio_json(cell.price_ratio)},
          {"shared_suspicions", array_of(cell.shared_suspicions, shared_suspicion_json)},
          {"attribution", attribution_json(cell.attribution)},
          {"agreement", cell_agreement_json(cell.agreement)},
          {"numeric_positions", cell.numeric_positions},
          {"token_positions", cell.token_positions},
          {"changed_values", texts_json(cell.changed_values)},
          {"first_divergences", divergences_json(cell)},
          {"other_findings", other_findings_json(cell)}};
}

Json axis_json(const AxisSummary& axis) {
  Json values = Json::array();
  for (const AxisValueSummary& value : axis.values) {
    values.push_back({{"value", json_text(value.value)},
                      {"cells", value.n_cells},
                      {"counts", counts_json(value.counts)},
                      {"token_match", proportion_json(value.token_match)},
                      {"bit_match", proportion_json(value.bit_match)}});
  }
  return {{"axis", json_text(axis.axis)},
          {"kind", axis.is_identity ? "identity" : "schedule"},
          {"values", std::move(values)}};
}

Json group_change_json(const GroupChange& change) {
  Json changed = Json::array();
  for (const ValueChange& c : change.changed) {
    changed.push_back(
        {{"axis", json_text(c.axis)}, {"from", json_text(c.from)}, {"to", json_text(c.to)}});
  }
  return {{"from", json_text(change.from_cell)}, {"to", json_text(change.to_cell)},
          {"changed_by", std::move(changed)},    {"pairs", change.n_pairs},
          {"same_tokens", change.n_same_tokens}, {"other_tokens", change.n_other_tokens},
          {"same_bits", change.n_same_bits},     {"not_compared", change.n_not_compared}};
}

Json side_json(const RunSide& side) {
  return {{"run", json_text(side.id)},
          {"target", json_text(side.target)},
          {"label", json_text(side.label)},
          {"status", json_text(side.status)},
          {"prompts_digest", json_text(side.prompts_digest)},
          {"fingerprint", json_text(side.fingerprint.id)},
          {"redacted", side.redacted},
          {"settings", texts_json(side.settings)}};
}

Json fingerprint_change_json(const FingerprintChange& change) {
  return {{"class", name(change.item_class)},
          {"name", json_text(change.name)},
          {"base", change.base ? Json(json_text(*change.base)) : Json()},
          {"candidate", change.candidate ? Json(json_text(*change.candidate)) : Json()}};
}

}  // namespace

Json comparison_json(const RunComparison& comparison) {
  return {
      {"format", "isobit.comparison"},
      {"version", 1},
      {"kind", name(comparison.kind)},
      {"base", side_json(comparison.base)},
      {"candidate", side_json(comparison.candidate)},
      {"totals", counts_json(comparison.totals)},
      {"token_match", proportion_json(comparison.token_match)},
      {"bit_match", proportion_json(comparison.bit_match)},
      {"noise",
       {{"counts", counts_json(comparison.noise)},
        {"max_drift", drift_json(comparison.noise_drift)},
        {"prompts", comparison.noisy_prompts}}},
      {"tie_nats", comparison.tie_nats},
      {"kinds", array_of(comparison.kinds, kind_count_json)},
      {"flip_law", comparison.flip_law ? flip_law_json(*comparison.flip_law) : Json()},
      {"certificates",
       comparison.certificates ? certificates_json(*comparison.certificates) : Json()},
      {"cells", array_of(comparison.cells, cell_json)},
      {"axes", array_of(comparison.axes, axis_json)},
      {"group_changes", array_of(comparison.group_changes, group_change_json)},
      {"group_spreads", array_of(comparison.group_spreads, group_spread_json)},
      {"cells_only_in_base", texts_json(comparison.cells_only_in_base)},
      {"cells_only_in_candidate", texts_json(comparison.cells_only_in_candidate)},
      {"prompts_only_in_base", texts_json(comparison.prompts_only_in_base)},
      {"prompts_only_in_candidate", texts_json(comparison.prompts_only_in_candidate)},
      {"unsampled_requests", texts_json(comparison.unsampled_requests)},
      {"fingerprint_changes", array_of(comparison.fingerprint_changes, fingerprint_change_json)}};
}

Json run_summary_json(const RunRecord& run, const RunComparison& comparison,
                      const Verdict& verdict) {
  return {{"run", json_text(run.id)},
          {"target", json_text(run.target)},
          {"status", json_text(run.status)},
          {"stop_reason", json_text(run.stop_reason)},
          {"redacted", run.redacted},
          {"cells", array_of(comparison.cells, cell_json)},
          {"axes", array_of(comparison.axes, axis_json)},
          {"group_changes", array_of(comparison.group_changes, group_change_json)},
          {"totals", counts_json(comparison.totals)},
          {"fingerprint", json_text(run.fingerprint.id)},
          {"verdict", verdict_json(verdict)}};
}

std::string json_report(const ReportInput& input) {
  Json token_texts = Json::object();
  for (const auto& [token_id, text] : input.token_texts)
    token_texts[std::to_string(token_id)] = json_text(text);
  const Json report = {{"format", "isobit.report"},
                       {"version", 1},
                       {"verdict", verdict_json(input.verdict)},
                       {"comparison", comparison_json(input.comparison)},
                       {"token_texts", std::move(token_texts)},
                       {"prompt_texts", texts_json(input.prompt_texts)},
                       {"next_command", json_text(input.next_command)}};
  return report.dump(2, ' ', /*ensure_ascii=*/true) + "\n";
}

std::string json_line(const Json& value) {
  try {
    return value.dump(-1, ' ', /*ensure_ascii=*/true);
  } catch (const Json::exception&) {  // some text in it is not UTF-8
    return valid_json(value).dump(-1, ' ', /*ensure_ascii=*/true);
  }
}

}  // namespace isobit

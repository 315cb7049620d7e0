// The JSON form of a verdict: its reasons, and every rule with the figures and samples that it
// rests on.
#include <cmath>

#include "gate/metrics.h"
#include "gate/policy_file.h"
#include "report/report.h"
#include "report/untrusted_text.h"
#include "report/valid_json.h"

namespace isobit {
namespace {

// JSON has no infinities; a first flip that never came has no position.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json finite(const std::optional<double>& value) {
  return value ? finite(*value) : Json();
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{finite(interval->low), finite(interval->high)} : Json();
}

Json sample_json(const DecidingSample& sample) {
  return {{"cell", json_text(sample.cell)},
          {"request", json_text(sample.request_id)},
          {"sample_index", sample.sample_index},
          {"repeat", sample.repeat},
          {"position", sample.position ? Json(*sample.position) : Json()}};
}

Json figure_json(const Figure& figure) {
  Json deciding = Json::array();
  for (const DecidingSample& sample : figure.deciding) deciding.push_back(sample_json(sample));
  const bool known = figure.state == FigureState::kKnown;
  return {{"state", name(figure.state)},
          {"value", known ? finite(figure.value) : Json()},
          {"interval95", interval_json(figure.interval95)},
          {"low_bound95", finite(figure.low_bound95)},
          {"high_bound95", finite(figure.high_bound95)},
          {"counted", json_text(figure.counted)},
          {"trials", figure.n_trials},
          {"deciding", std::move(deciding)},
          {"n_deciding", figure.n_deciding},
          {"missing", json_text(figure.missing)}};
}

Json rule_result_json(const RuleResult& result) {
  Json units = Json::array();
  for (const RuleUnit& unit : result.units) {
    units.push_back({{"unit", json_text(unit.unit)},
                     {"outcome", name(unit.outcome)},
                     {"holds", unit.holds},
                     {"figure", figure_json(unit.figure)}});
  }
  const Rule& rule = result.rule;
  return {{"rule", json_text(rule.id)},
          {"metric", rule.metric},
          {"scope", name(rule.scope)},
          {"against", name(rule.against)},
          {"tier", json_text(result.tier)},
          {"min", finite(rule.min)},
          {"max", finite(rule.max)},
          {"severity", name(rule.severity)},
          {"confidence", name(rule.confidence)},
          {"outcome", name(result.outcome)},
          {"let_through", json_text(result.let_through)},
          {"units", std::move(units)}};
}

Json timings_json(const std::optional<Timings>& t) {
  if (!t) return {};
  return {{"tokens_per_s_per_request", finite(t->tokens_per_s)},
          {"ttft_p50_ms", finite(t->ttft_p50_ms)},
          {"ttft_p95_ms", finite(t->ttft_p95_ms)},
          {"latency_p50_ms", finite(t->latency_p50_ms)},
          {"latency_p95_ms", finite(t->latency_p95_ms)}};
}

Json tier_json(const TierResult& result) {
  return {{"tier", json_text(result.tier.name)}, {"level", number(result.tier.level)},
          {"prompts", result.n_prompts},         {"match", figure_json(result.match)},
          {"base", timings_json(result.base)},   {"candidate", timings_json(result.candidate)}};
}

Json change_json(const ChangeNote& note) {
  const FingerprintChange& change = note.change;
  return {{"class", name(change.item_class)},
          {"name", json_text(change.name)},
          {"base", change.base ? Json(json_text(*change.base)) : Json()},
          {"candidate", change.candidate ? Json(json_text(*change.candidate)) : Json()},
          {"expectation", name(note.expectation)},
          {"effect", json_text(note.effect)}};
}

Json reason_json(const Reason& reason) {
  return {{"outcome", name(reason.outcome)},
          {"subject", json_text(reason.subject)},
          {"text", json_text(reason.text)}};
}

Json note_json(const Reason& note) {
  return {{"subject", json_text(note.subject)}, {"text", json_text(note.text)}};
}

template <typename T, typename F>
Json array_of(const std::vector<T>& items, F&& to_json) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

}  // namespace

Json verdict_json(const Verdict& verdict) {
  return {{"format", "isobit.verdict"},
          {"version", 1},
          {"outcome", name(verdict.outcome)},
          {"level", number(verdict.level)},
          {"sentence", json_text(verdict.sentence)},
          {"reasons", array_of(verdict.reasons, reason_json)},
          {"rules", array_of(verdict.rules, rule_result_json)},
          {"tiers", array_of(verdict.tiers, tier_json)},
          {"changes", array_of(verdict.changes, change_json)},
          {"notes", array_of(verdict.notes, note_json)},
          {"policy", valid_json(policy_to_json(verdict.policy))}};
}

}  // namespace isobit

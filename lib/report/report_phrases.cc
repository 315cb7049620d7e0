#include "report/report_phrases.h"

#include <fmt/format.h>

#include "gate/metrics.h"
#include "report/untrusted_text.h"

namespace isobit {

std::string percent(double rate) {
  return fmt::format("{:.1f} %", 100 * rate);
}

std::string rate_text(const Proportion& match) {
  return match.trials == 0 ? "-" : fmt::format("{}/{}", match.matches, match.trials);
}

std::string interval_text(const Interval& interval) {
  return fmt::format("{:.1f}-{:.1f} %", 100 * interval.low, 100 * interval.high);
}

std::string drift_text(const std::optional<Drift>& drift) {
  if (!drift) return "-";
  return drift->ulp == 0 ? "0" : fmt::format("{:.2g} nat, {} ulp", drift->nats, drift->ulp);
}

std::string nats_text(std::optional<double> nats) {
  return nats ? fmt::format("{:.4g}", *nats) : "-";
}

std::string first_position(const std::vector<int32_t>& ascending) {
  return ascending.empty() ? "-" : fmt::format("{}", ascending.front());
}

std::string settings_text(const RunSide& side) {
  std::string out;
  for (const std::string& setting : side.settings)
    out += (out.empty() ? "" : ", ") + bounded_name(setting, kNameInSentenceCharacters);
  return out;
}

std::string state_words(const RunComparison& comparison, const CellComparison& cell) {
  if (!cell.complete) return "incomplete";
  if (!cell.exercised) return "not exercised";
  const bool within = comparison.kind == ComparisonKind::kWithinRun;
  return within && cell.is_reference ? "reference" : "ok";
}

std::string rule_words(const RuleResult& result) {
  const Metric* metric = find_metric(result.rule.metric);
  const RuleUnit* unit = result.deciding();
  const std::string limit = limit_text(result.rule);
  if (unit == nullptr || metric == nullptr) return limit + "; nothing to compare";
  std::string out =
      unit_words(result, *unit) + ": " + figure_words(*metric, unit->figure) + "; asked: " + limit;
  if (const std::string interval = interval_words(*unit, result.rule); !interval.empty())
    out += "; " + interval;
  if (const std::string decided = deciding_text(unit->figure); !decided.empty())
    out += "; decided by " + decided;
  return bounded_sentence(out, names_in(*unit));
}

const char* other_side(const RunComparison& comparison) {
  return comparison.kind == ComparisonKind::kWithinRun ? "the reference cell" : "the base run";
}

std::string quantity_text(double value) {
  const bool large = value >= 999.5 || value <= -999.5;  // what {:.3g} would round to 1e+03
  return large ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace isobit

#include "app/explain_rule.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "base/error.h"
#include "gate/metrics.h"
#include "gate/rule_judgement.h"
#include "report/report.h"

namespace isobit::app {
namespace {

std::vector<Rule> built_in_rules() {
  std::vector<Rule> out;
  for (const Against against : {Against::kBase, Against::kReference}) {
    for (const Level level : {Level::kStatistical, Level::kRequestReproducible, Level::kBitwise})
      out.push_back(level_rule(level, against));
    out.push_back(suspicious_rule(against));
  }
  return out;
}

std::optional<Rule> built_in_rule(const std::string& id) {
  const std::vector<Rule> rules = built_in_rules();
  const auto at = std::ranges::find(rules, id, &Rule::id);
  return at == rules.end() ? std::nullopt : std::optional(*at);
}

std::string scope_names(const Metric& metric) {
  std::string out;
  for (const Scope scope : metric.scopes)
    out += (out.empty() ? "" : ", ") + std::string(name(scope));
  return out;
}

std::string metric_text(const Metric& metric) {
  return fmt::format(
      "metric {} ({})\n  {}\n  scopes: {}{}\n", metric.name, metric.unit, metric.meaning,
      scope_names(metric),
      metric.has_bound ? "; a rule may ask for its 95 % bound (\"confidence\": \"bound\")" : "");
}

std::string rule_text(const Rule& rule) {
  return fmt::format(
      "rule {}, built in\n  {}: {}, against {}\n", rule.id, rule.metric, limit_text(rule),
      rule.against == Against::kBase ? "the base run" : "the candidate's own reference cell");
}

}  // namespace

bool is_rule_word(const std::string& word) {
  return find_metric(word) != nullptr || built_in_rule(word).has_value();
}

int explain_rule(const std::string& word, Session& session) {
  const std::optional<Rule> rule = built_in_rule(word);
  const Metric* metric = find_metric(rule ? rule->metric : word);
  ISOBIT_REQUIRE(metric != nullptr);
  if (session.flags.json) {
    session.console.result(json_line({{"rule", rule ? Json(rule->id) : Json()},
                                      {"limit", rule ? Json(limit_text(*rule)) : Json()},
                                      {"metric", metric->name},
                                      {"unit", metric->unit},
                                      {"meaning", metric->meaning},
                                      {"has_bound", metric->has_bound}}));
  } else {
    session.console.result((rule ? rule_text(*rule) : std::string()) + metric_text(*metric));
  }
  return kOk;
}

}  // namespace isobit::app

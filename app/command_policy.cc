// `isobit policy list|show|check|metrics`: what a gate can ask, before it is asked.
#include <algorithm>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/policy_argument.h"
#include "base/error.h"
#include "gate/metrics.h"
#include "gate/policy_file.h"
#include "report/report.h"
#include "report/text_table.h"

namespace isobit::app {
namespace {

int list(Session& session) {
  Json policies = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const ReadyPolicy& ready : ready_policies()) {
    const Policy policy = ready_policy(ready.name);
    policies.push_back({{"name", ready.name},
                        {"level", number(policy.level)},
                        {"tiers", policy.tiers.size()},
                        {"rules", policy.rules.size()}});
    rows.push_back({ready.name, fmt::format("{}", number(policy.level)),
                    fmt::format("{}", policy.tiers.size()),
                    fmt::format("{}", policy.rules.size())});
  }
  if (session.flags.json) {
    session.console.result(json_line({{"policies", policies}}));
  } else {
    session.console.result(text_table({{"policy", Align::kLeft},
                                       {"level", Align::kRight},
                                       {"tiers", Align::kRight},
                                       {"rules of its own", Align::kRight}},
                                      rows));
    session.console.suggest("isobit policy show level-1");
  }
  return kOk;
}

int show(const std::string& name, Session& session) {
  const Policy policy = ready_policy(name);
  if (session.flags.json) {
    session.console.result(json_line(policy_to_json(policy)));
    return kOk;
  }
  for (const ReadyPolicy& ready : ready_policies()) {
    if (ready.name == name) session.console.result(ready.text);
  }
  return kOk;
}

std::vector<std::string> rule_row(const Rule& rule) {
  return {rule.id,          rule.metric,        name(rule.scope), name(rule.against),
          limit_text(rule), name(rule.severity)};
}

// What the gate will ask: the level's rules of every tier, and the policy's own.
std::vector<Rule> effective_rules(const Policy& policy) {
  std::vector<Rule> rules;
  std::vector<Level> levels = {policy.level};
  for (const Tier& tier : policy.tiers) {
    if (std::find(levels.begin(), levels.end(), tier.level) == levels.end())
      levels.push_back(tier.level);
  }
  for (const Level level : levels) {
    rules.push_back(level_rule(level, Against::kBase));
    if (level != Level::kStatistical) rules.push_back(level_rule(level, Against::kReference));
  }
  rules.push_back(suspicious_rule(Against::kBase));
  rules.push_back(suspicious_rule(Against::kReference));
  rules.insert(rules.end(), policy.rules.begin(), policy.rules.end());
  return rules;
}

int check(const std::string& file, Session& session) {
  const Policy policy = policy_argument(file);
  refuse_expired(policy, gate_day(session.flags.now));
  if (session.flags.json) {
    session.console.result(json_line(policy_to_json(policy)));
    return kOk;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Rule& rule : effective_rules(policy)) rows.push_back(rule_row(rule));
  session.console.result(fmt::format("{}: level {}, {} tiers, {} overrides\n",
                                     printable(policy.name), number(policy.level),
                                     policy.tiers.size(), policy.overrides.size()));
  session.console.result(text_table({{"rule", Align::kLeft},
                                     {"metric", Align::kLeft},
                                     {"scope", Align::kLeft},
                                     {"against", Align::kLeft},
                                     {"limit", Align::kLeft},
                                     {"severity", Align::kLeft}},
                                    rows));
  return kOk;
}

std::string scopes_text(const Metric& metric) {
  std::string out;
  for (const Scope scope : metric.scopes)
    out += (out.empty() ? "" : " ") + std::string(name(scope));
  return out;
}

int list_metrics(Session& session) {
  Json out = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Metric& metric : metrics()) {
    Json scopes = Json::array();
    for (const Scope scope : metric.scopes) scopes.push_back(name(scope));
    out.push_back({{"metric", metric.name},
                   {"unit", metric.unit},
                   {"meaning", metric.meaning},
                   {"scopes", scopes},
                   {"has_bound", metric.has_bound}});
    rows.push_back({metric.name, metric.unit, metric.has_bound ? "yes" : "no", scopes_text(metric),
                    metric.meaning});
  }
  if (session.flags.json) {
    session.console.result(json_line({{"metrics", out}}));
  } else {
    session.console.result(text_table({{"metric", Align::kLeft},
                                       {"unit", Align::kLeft},
                                       {"bound", Align::kLeft},
                                       {"scopes", Align::kLeft},
                                       {"what it is", Align::kLeft}},
                                      rows));
  }
  return kOk;
}

}  // namespace

std::function<int()> declare_policy(CLI::App& app, Session& session) {
  app.require_subcommand(1);
  auto name = std::make_shared<std::string>(), file = std::make_shared<std::string>();
  CLI::App* list_app = app.add_subcommand("list", "The ready policies");
  CLI::App* show_app = app.add_subcommand("show", "A ready policy's file, to begin one's own with");
  show_app->add_option("NAME", *name, "As in the list")->required();
  CLI::App* check_app =
      app.add_subcommand("check", "Reads a policy and says every rule that a gate will ask");
  check_app->add_option("FILE", *file, "A policy file, or a ready policy's name")->required();
  CLI::App* metrics_app = app.add_subcommand("metrics", "What rules may be about");
  for (CLI::App* sub : {list_app, show_app, check_app, metrics_app}) sub->fallthrough();
  list_app->footer("Example:\n  isobit policy list");
  show_app->footer("Example:\n  isobit policy show level-1");
  check_app->footer("Example:\n  isobit policy check two-tiers");
  metrics_app->footer("Example:\n  isobit policy metrics");
  return [=, &session] {
    if (list_app->parsed()) return list(session);
    if (show_app->parsed()) return show(*name, session);
    return check_app->parsed() ? check(*file, session) : list_metrics(session);
  };
}

}  // namespace isobit::app

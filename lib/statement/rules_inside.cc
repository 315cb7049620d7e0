#include "statement/rules_inside.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

#include "base/error.h"
#include "gate/outcome.h"
#include "gate/rule_judgement.h"
#include "gate/selection.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

// A rule that the policy asks for, in one of its tiers.
struct AskedRule {
  Rule rule;
  std::string tier;
};

std::string rule_name(const std::string& rule, const std::string& tier) {
  return tier.empty() ? rule : tier + "/" + rule;
}

void ask_level_rules(const Policy& policy, Against against, bool between_runs,
                     std::vector<AskedRule>& out) {
  for (const Tier& tier : tiers_of(policy)) {
    // Noise is asked about beside the base run only.
    if (between_runs && against == Against::kReference && tier.level == Level::kStatistical)
      continue;
    out.push_back({.rule = level_rule(tier.level, against), .tier = tier.name});
  }
  out.push_back({.rule = suspicious_rule(against), .tier = {}});
}

// What a gate between two runs asks, or a run that is held against itself.
std::vector<AskedRule> asked_rules(const Policy& policy, bool between_runs) {
  std::vector<AskedRule> out;
  if (between_runs) ask_level_rules(policy, Against::kBase, between_runs, out);
  ask_level_rules(policy, Against::kReference, between_runs, out);
  for (const Rule& rule : policy.rules) out.push_back({.rule = rule, .tier = {}});
  return out;
}

std::string limits_text(std::optional<double> min, std::optional<double> max) {
  const auto text = [](std::optional<double> value) {
    return value ? Json(*value).dump() : std::string("none");
  };
  return "min " + text(min) + ", max " + text(max);
}

std::string terms_of(const Rule& rule) {
  return rule.metric + " by " + name(rule.scope) + " against " + name(rule.against) + ", " +
         limits_text(rule.min, rule.max) + ", " + name(rule.severity) + ", " +
         name(rule.confidence);
}

// Reads members of a verdict's rules.
class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  const Json& member(const Json& object, const char* key) const {
    if (object.is_object() && object.contains(key)) return object[key];
    refuse(std::string("\"") + key + "\" is missing");
  }

  std::string word(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::optional<double> number(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  }

  const Json& list(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    if (!value.is_array()) refuse(std::string("\"") + key + "\" is no list");
    return value;
  }

  template <typename T>
  T one_of(const Json& object, const char* key, std::initializer_list<T> values) const {
    const std::string found = word(object, key);
    for (const T value : values) {
      if (found == name(value)) return value;
    }
    refuse(std::string("\"") + key + "\" is '" + found.substr(0, 40) + "'");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::environment, where_ + ": rules: " + what,
                "the statement was damaged, or another version of isobit wrote it");
  }

  const std::string& where_;
};

constexpr std::initializer_list<Outcome> kOutcomes = {
    Outcome::kPass,         Outcome::kWarn,        Outcome::kFail,      Outcome::kInconclusive,
    Outcome::kIncomparable, Outcome::kUnsupported, Outcome::kIncomplete};

// One rule as a verdict has it: what judging it again needs.
struct RuleInside {
  std::string id, tier, let_through;
  RuleResult result;
};

RuleUnit read_unit(const Reader& reader, const Json& json) {
  const Json& figure = reader.member(json, "figure");
  RuleUnit out{.unit = reader.word(json, "unit"), .figure = {}};
  out.figure.state = reader.one_of(
      figure, "state", {FigureState::kKnown, FigureState::kNothing, FigureState::kNotRecorded});
  // A first flip that never came.
  out.figure.value =
      reader.number(figure, "value").value_or(std::numeric_limits<double>::infinity());
  out.figure.low_bound95 = reader.number(figure, "low_bound95");
  out.figure.high_bound95 = reader.number(figure, "high_bound95");
  out.outcome = reader.one_of(json, "outcome", kOutcomes);
  out.holds = reader.member(json, "holds") == true;
  return out;
}

RuleInside read_rule(const Reader& reader, const Json& json) {
  RuleInside out{.id = reader.word(json, "rule"),
                 .tier = reader.word(json, "tier"),
                 .let_through = reader.word(json, "let_through"),
                 .result = {}};
  Rule& rule = out.result.rule;
  rule.metric = reader.word(json, "metric");
  rule.scope = reader.one_of(
      json, "scope", {Scope::kRun, Scope::kCell, Scope::kAxis, Scope::kTag, Scope::kPrompt});
  rule.against = reader.one_of(json, "against", {Against::kBase, Against::kReference});
  rule.min = reader.number(json, "min");
  rule.max = reader.number(json, "max");
  rule.severity =
      reader.one_of(json, "severity", {Severity::kInfo, Severity::kWarn, Severity::kFail});
  rule.confidence = reader.one_of(json, "confidence", {Confidence::kPoint, Confidence::kBound});
  out.result.outcome = reader.one_of(json, "outcome", kOutcomes);
  for (const Json& unit : reader.list(json, "units"))
    out.result.units.push_back(read_unit(reader, unit));
  return out;
}

class RulesCheck {
 public:
  RulesCheck(const Json& verdict, const Policy& policy, const std::string& where)
      : policy_(policy), between_runs_(is_between_runs(verdict)) {
    const Reader reader(where);
    outcome_ = reader.one_of(verdict, "outcome", kOutcomes);
    for (const Json& rule : reader.list(verdict, "rules"))
      rules_.push_back(read_rule(reader, rule));
  }

  std::vector<Disagreement> check() {
    for (const AskedRule& asked : asked_rules(policy_, between_runs_)) hold_asked(asked);
    hold_that_something_was_judged();
    for (const RuleInside& rule : rules_) {
      hold_units(rule);
      hold_outcome(rule);
    }
    return std::move(out_);
  }

 private:
  static std::string called(const RuleInside& rule) {
    return "rule " + rule_name(rule.id, rule.tier) + " of the verdict inside";
  }

  void hold_asked(const AskedRule& asked) {
    const std::string id = json_text(asked.rule.id), tier = json_text(asked.tier);
    const std::string expected = terms_of(asked.rule);
    std::optional<std::string> found;
    for (const RuleInside& rule : rules_) {
      if (rule.id != id || rule.tier != tier) continue;
      found = terms_of(rule.result.rule);
      if (found == expected) return;
    }
    out_.push_back(
        {"rule " + rule_name(id, tier) + " of the verdict inside, by the policy", expected, found});
  }

  // Of those that hold the candidate to the base; of one run, to its reference cell.
  bool is_level_rule(const RuleInside& rule) const {
    const Against against = between_runs_ ? Against::kBase : Against::kReference;
    const std::vector<Tier> tiers = tiers_of(policy_);
    return std::ranges::any_of(
        tiers, [&](const Tier& t) { return level_rule(t.level, against).id == rule.id; });
  }

  bool is_own_rule(const RuleInside& rule) const {
    return std::ranges::any_of(policy_.rules,
                               [&](const Rule& r) { return json_text(r.id) == rule.id; });
  }

  // A level that no request was held to lets nothing pass.
  void hold_that_something_was_judged() {
    if (outcome_ != Outcome::kPass && outcome_ != Outcome::kWarn) return;
    const bool any = std::ranges::any_of(rules_, [&](const RuleInside& rule) {
      return is_level_rule(rule) && !rule.result.units.empty();
    });
    if (!any)
      out_.push_back({"what the rules of the verdict inside looked at", "something", std::nullopt});
  }

  // A bound without end is null in JSON, as is one that was not computed: then the figure itself
  // must break the limit, or nobody can tell.
  static bool lacks_a_bound(const Rule& rule, const Figure& figure) {
    return rule.confidence == Confidence::kBound &&
           ((rule.max && !figure.high_bound95) || (rule.min && !figure.low_bound95));
  }

  void hold_units(const RuleInside& rule) {
    for (const RuleUnit& unit : rule.result.units) {
      RuleUnit again{.unit = unit.unit, .figure = unit.figure};
      judge_unit(rule.result.rule, again);
      if (again.holds && lacks_a_bound(rule.result.rule, unit.figure)) continue;
      const std::string what = "unit " + unit.unit + " of rule " + rule_name(rule.id, rule.tier) +
                               " of the verdict inside, by its figure";
      if (again.holds != unit.holds)
        out_.push_back({what, again.holds ? "holds" : "does not hold",
                        unit.holds ? "holds" : "does not hold"});
      if (again.outcome != unit.outcome)
        out_.push_back({what + ": outcome", name(again.outcome), name(unit.outcome)});
    }
  }

  // The worst of its units, unless an override of the policy lets the whole rule through.
  void hold_outcome(const RuleInside& rule) {
    Outcome expected = Outcome::kPass;
    for (const RuleUnit& unit : rule.result.units) {
      if (precedence(unit.outcome) > precedence(expected)) expected = unit.outcome;
    }
    const bool overridden = std::ranges::any_of(policy_.overrides, [&](const Override& o) {
      return json_text(o.rule) == rule.id && o.cell.empty() && o.prompt.empty() &&
             json_text(o.reason) == rule.let_through;
    });
    if (!rule.let_through.empty() && !overridden)
      out_.push_back({called(rule) + ", let through by the policy", "no", "yes"});
    if (overridden) expected = Outcome::kPass;
    if (rule.result.outcome != expected)
      out_.push_back({called(rule) + ", by its units", name(expected), name(rule.result.outcome)});
    // What a level's rule could not judge is told cell by cell, and an override may let that
    // through.
    const bool decides = expected == Outcome::kFail || is_own_rule(rule);
    if (decides && precedence(outcome_) < precedence(expected))
      out_.push_back({"outcome of the verdict inside, by rule " + rule_name(rule.id, rule.tier),
                      name(expected), name(outcome_)});
  }

  const Policy& policy_;
  bool between_runs_;
  Outcome outcome_ = Outcome::kPass;
  std::vector<RuleInside> rules_;
  std::vector<Disagreement> out_;
};

}  // namespace

bool is_between_runs(const Json& verdict) {
  return std::ranges::any_of(verdict["rules"], [](const Json& rule) {
    return rule.value("against", Json()) == name(Against::kBase);
  });
}

std::vector<Disagreement> rules_unlike_policy(const Json& verdict, const Policy& policy,
                                              const std::string& where) {
  return RulesCheck(verdict, policy, where).check();
}

}  // namespace isobit

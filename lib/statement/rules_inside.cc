#include "statement/rules_inside.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "gate/figure.h"
#include "gate/outcome.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

// A rule that the policy asks for, in one of its tiers.
struct AskedRule {
  Rule rule;
  std::string tier;
  bool needs_units = false;
};

std::string rule_name(const std::string& rule, const std::string& tier) {
  return tier.empty() ? rule : tier + "/" + rule;
}

void ask_level_rules(const Policy& policy, Against against, std::vector<AskedRule>& out) {
  if (policy.tiers.empty())
    out.push_back({.rule = level_rule(policy.level, against), .tier = {}, .needs_units = true});
  for (const Tier& tier : policy.tiers)
    out.push_back({.rule = level_rule(tier.level, against), .tier = tier.name});
  out.push_back({.rule = suspicious_rule(against), .tier = {}});
}

// What a run brings that is judged by itself, or what a gate between runs does.
std::vector<AskedRule> asked_rules(const Policy& policy, bool between_runs) {
  std::vector<AskedRule> out;
  ask_level_rules(policy, between_runs ? Against::kBase : Against::kReference, out);
  for (const Rule& rule : policy.rules) out.push_back({.rule = rule, .tier = {}});
  return out;
}

// A verdict's rules, each with the members that are read here.
class RulesCheck {
 public:
  RulesCheck(const Json& verdict, const std::string& where) : verdict_(verdict), where_(where) {}

  std::vector<Disagreement> check(const Policy& policy) {
    for (const AskedRule& asked : asked_rules(policy, is_between_runs(verdict_))) hold_asked(asked);
    for (const Json& rule : verdict_["rules"]) hold_units(rule);
    return std::move(out_);
  }

 private:
  const Json& member(const Json& object, const char* key) const {
    if (object.is_object() && object.contains(key)) return object[key];
    throw Error(ErrorCode::environment, where_ + ": rules: \"" + key + "\" is missing",
                "the statement was damaged, or another version of isobit wrote it");
  }

  std::string word(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::optional<double> number(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  }

  static std::string limits(std::optional<double> min, std::optional<double> max) {
    const auto text = [](std::optional<double> value) {
      return value ? Json(*value).dump() : std::string("none");
    };
    return "min " + text(min) + ", max " + text(max);
  }

  std::string terms(const Rule& rule) const {
    return rule.metric + " by " + name(rule.scope) + " against " + name(rule.against) + ", " +
           limits(rule.min, rule.max) + ", " + name(rule.severity) + ", " + name(rule.confidence);
  }

  std::string terms(const Json& rule) const {
    return word(rule, "metric") + " by " + word(rule, "scope") + " against " +
           word(rule, "against") + ", " + limits(number(rule, "min"), number(rule, "max")) + ", " +
           word(rule, "severity") + ", " + word(rule, "confidence");
  }

  bool is_good() const {
    return verdict_["outcome"] == name(Outcome::kPass) ||
           verdict_["outcome"] == name(Outcome::kWarn);
  }

  // An id may stand for two rules, against the base and against the reference cell.
  void hold_asked(const AskedRule& asked) {
    const std::string id = json_text(asked.rule.id), tier = json_text(asked.tier);
    const std::string what = "rule " + rule_name(id, tier) + " of the verdict inside";
    const std::string expected = terms(asked.rule);
    std::optional<std::string> found;
    for (const Json& rule : verdict_["rules"]) {
      if (word(rule, "rule") != id || word(rule, "tier") != tier) continue;
      found = terms(rule);
      if (found != expected) continue;
      if (asked.needs_units && is_good() && member(rule, "units").empty())
        out_.push_back({what + ": what it looked at", "something", std::nullopt});
      return;
    }
    out_.push_back({what + ", by the policy", expected, found});
  }

  static bool within(double low, double high, std::optional<double> min,
                     std::optional<double> max) {
    return !(min && low < *min) && !(max && high > *max);
  }

  // Nothing: a figure or a bound without end, which JSON writes as null.
  std::optional<bool> keeps_to_limits(const Json& rule, const Json& figure) const {
    const auto min = number(rule, "min"), max = number(rule, "max");
    if (word(figure, "state") != name(FigureState::kKnown)) return false;
    const std::optional<double> value = number(figure, "value");
    if (!value) return std::nullopt;
    if (!within(*value, *value, min, max)) return false;
    if (word(rule, "confidence") != name(Confidence::kBound)) return true;
    const auto low = number(figure, "low_bound95"), high = number(figure, "high_bound95");
    if ((min && !low) || (max && !high)) return std::nullopt;
    return within(low.value_or(*value), high.value_or(*value), min, max);
  }

  void hold_units(const Json& rule) {
    const Json& units = member(rule, "units");
    if (!units.is_array()) member(Json(), "units");
    for (const Json& unit : units) {
      const std::optional<bool> holds = keeps_to_limits(rule, member(unit, "figure"));
      if (holds) hold_unit(rule, unit, *holds);
    }
  }

  void hold_unit(const Json& rule, const Json& unit, bool holds) {
    const std::string what = "unit " + word(unit, "unit") + " of rule " +
                             rule_name(word(rule, "rule"), word(rule, "tier")) +
                             " of the verdict inside, by its figure";
    if (member(unit, "holds") != holds)
      out_.push_back({what, holds ? "holds" : "does not hold", member(unit, "holds").dump()});
    const bool informs = word(rule, "severity") == name(Severity::kInfo);
    if (!holds && !informs && word(unit, "outcome") == name(Outcome::kPass))
      out_.push_back({what, "no pass", "pass"});
  }

  const Json& verdict_;
  const std::string& where_;
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
  return RulesCheck(verdict, where).check(policy);
}

}  // namespace isobit

// A verdict's rules against the policy that asks for them and against their own figures.
#include "statement/rules_inside.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "gate/policy_file.h"
#include "gate/verdict.h"
#include "report/report.h"

using namespace isobit;

namespace {

const Policy& asked() {
  static const Policy policy = read_policy(R"({
    "name": "p", "level": 1,
    "rules": [
      {"id": "few-flips", "metric": "token_mismatch_rate", "scope": "run", "max": 0.02, "confidence": "bound"},
      {"id": "same-words", "metric": "token_match_rate", "scope": "cell", "against": "reference", "min": 0.9},
      {"id": "told", "metric": "token_flips", "scope": "run", "max": 0, "severity": "info"}
    ]})",
                                           "p");
  return policy;
}

RuleResult kept(const Rule& rule, double value) {
  RuleResult out;
  out.rule = rule;
  RuleUnit& unit = out.units.emplace_back();
  unit.unit = "u";
  unit.figure.state = FigureState::kKnown;
  unit.figure.value = value;
  unit.figure.low_bound95 = std::max(0.0, value - 0.01);
  unit.figure.high_bound95 = value + 0.01;
  judge_unit(rule, unit);
  out.outcome = unit.outcome;
  return out;
}

// A gate between runs in which all that was asked for holds.
Json good() {
  Verdict verdict;
  verdict.policy = asked();
  verdict.rules = {kept(level_rule(asked().level, Against::kBase), 0),
                   kept(suspicious_rule(Against::kBase), 0),
                   kept(asked().rules[0], 0.005),
                   kept(asked().rules[1], 0.95),
                   kept(asked().rules[2], 3),
                   kept(level_rule(asked().level, Against::kReference), 0),
                   kept(suspicious_rule(Against::kReference), 0)};
  return verdict_json(verdict);
}

std::vector<std::string> found(const Json& verdict, const Policy& policy = asked()) {
  std::vector<std::string> out;
  for (const Disagreement& d : rules_unlike_policy(verdict, policy, "v")) out.push_back(d.what);
  return out;
}

std::vector<std::string> found_after(const std::function<void(Json&)>& edit_rules) {
  Json verdict = good();
  edit_rules(verdict["rules"]);
  return found(verdict);
}

Json& unit(Json& rules, size_t rule) {
  return rules[rule]["units"][0];
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a verdict's rules as the gate wrote them are those of its policy") {
  CHECK(found(good()).empty());
  CHECK(is_between_runs(good()));
}

TEST_CASE("a rule that the policy asks for and that is gone is named") {
  const Words names = {
      "same-tokens",        "suspicious-flips",       "few-flips", "same-words", "told",
      "same-tokens-loaded", "suspicious-flips-loaded"};
  for (size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    const Words told = found_after([&](Json& rules) { rules.erase(i); });
    CHECK(told.front() == "rule " + names[i] + " of the verdict inside, by the policy");
    CHECK(told.size() == (i == 0 ? 2 : 1));  // without the level's rule nothing was looked at
  }
  const auto gone = rules_unlike_policy({{"rules", Json::array()}, {"outcome", "pass"}},
                                        level_policy(Level::kBitwise), "v");
  REQUIRE(gone.size() == 3);  // two rules, and nothing was looked at
  CHECK(!gone[0].found);
  CHECK(gone[0].expected.starts_with("bit_mismatch_rate by "));
}

TEST_CASE("a rule whose terms were changed is named with both") {
  for (const auto& [key, value] : std::map<std::string, Json>{{"max", 0.5},
                                                              {"min", 0},
                                                              {"metric", "token_flips"},
                                                              {"scope", "cell"},
                                                              {"severity", "info"},
                                                              {"confidence", "point"},
                                                              {"tier", "t"}}) {
    CAPTURE(key);
    CHECK(found_after([&](Json& rules) { rules[2][key] = value; }) ==
          Words{"rule few-flips of the verdict inside, by the policy"});
  }
  Json verdict = good();
  verdict["rules"][2]["max"] = 0.5;
  const auto all = rules_unlike_policy(verdict, asked(), "v");
  REQUIRE(all.size() == 1);
  CHECK(all[0].expected ==
        "token_mismatch_rate by run against base, min none, max 0.02, fail, bound");
  CHECK(all[0].found == "token_mismatch_rate by run against base, min none, max 0.5, fail, bound");
}

TEST_CASE("a unit that its own figure contradicts is named") {
  const std::string few = "unit u of rule few-flips of the verdict inside, by its figure";
  CHECK(found_after([](Json& rules) { unit(rules, 2)["holds"] = false; }) == Words{few});
  for (const char* outcome : {"warn", "fail", "inconclusive"}) {
    CAPTURE(outcome);
    CHECK(found_after([&](Json& rules) { unit(rules, 2)["outcome"] = outcome; }).front() ==
          few + ": outcome");
  }
  const auto with = [&](const char* key, const Json& value) {
    return found_after([&](Json& rules) { unit(rules, 2)["figure"][key] = value; });
  };
  const Words both = {few, few + ": outcome"};  // it holds, and it passes
  CHECK(with("value", 0.03) == both);
  CHECK(with("value", Json()) == both);
  CHECK(with("high_bound95", 0.03) == both);
  CHECK(with("state", "nothing") == both);
  CHECK(with("low_bound95", 0.0).empty());
  CHECK(with("high_bound95", Json()).empty());  // without end: nobody can tell
  CHECK(found_after([](Json& rules) {
          unit(rules, 2)["figure"]["high_bound95"] = Json();
          unit(rules, 2)["figure"]["value"] = 0.03;  // whatever its bound is
        }) == both);
  CHECK(found_after([](Json& rules) { unit(rules, 3)["figure"]["value"] = 0.5; }).size() == 2);
  CHECK(found_after([](Json& rules) { unit(rules, 4)["holds"] = true; }) ==
        Words{"unit u of rule told of the verdict inside, by its figure"});
}

TEST_CASE("a rule's outcome is the worst of its units', and the verdict's no better") {
  const auto fails = [](Json& rules) {
    unit(rules, 0)["holds"] = false;
    unit(rules, 0)["outcome"] = "fail";
    unit(rules, 0)["figure"]["value"] = 1;
  };
  const std::string rule = "rule same-tokens of the verdict inside, by its units";
  const std::string verdict = "outcome of the verdict inside, by rule same-tokens";
  CHECK(found_after(fails) == Words{rule, verdict});
  const auto admitted = [&](Json& rules) {
    fails(rules);
    rules[0]["outcome"] = "fail";
  };
  CHECK(found_after(admitted) == Words{verdict});
  const std::string let = "rule same-tokens of the verdict inside, let through by the policy";
  CHECK(found_after([&](Json& rules) {
          fails(rules);
          rules[0]["let_through"] = "x";
        }) == Words{let, rule, verdict});
  Policy lenient = asked();
  Override& o = lenient.overrides.emplace_back();
  o.rule = "same-tokens";
  o.reason = "x";
  Json json = good();
  fails(json["rules"]);
  json["rules"][0]["let_through"] = "x";
  CHECK(found(json, lenient).empty());
  json["rules"][0]["let_through"] = "y";
  CHECK(found(json, lenient).size() == 3);
}

TEST_CASE("a level that nothing was held to lets nothing pass") {
  const auto empty = [](Json& rules) {
    rules[0]["units"] = Json::array();  // the candidate's own cells make up for nothing
  };
  CHECK(found_after(empty) == Words{"what the rules of the verdict inside looked at"});
  Json verdict = good();
  verdict["outcome"] = "inconclusive";
  empty(verdict["rules"]);
  CHECK(found(verdict).empty());
}

TEST_CASE("each tier brings the rule of its level") {
  const Policy policy = read_policy(
      R"({"name": "p", "level": 1, "tiers": [{"name": "legal", "tags": ["legal"], "level": 2}]})",
      "p");
  Verdict verdict;
  verdict.policy = policy;
  for (const Against against : {Against::kBase, Against::kReference}) {
    verdict.rules.push_back(kept(level_rule(Level::kBitwise, against), 0));
    verdict.rules.back().tier = "legal";
    verdict.rules.push_back(kept(level_rule(Level::kRequestReproducible, against), 0));
    verdict.rules.back().tier = "other requests";
    verdict.rules.push_back(kept(suspicious_rule(against), 0));
  }
  const Json json = verdict_json(verdict);
  CHECK(found(json, policy).empty());
  const Words names = {
      "legal/same-bits",        "other requests/same-tokens",        "suspicious-flips",
      "legal/same-bits-loaded", "other requests/same-tokens-loaded", "suspicious-flips-loaded"};
  for (size_t i = 0; i < names.size(); ++i) {
    Json less = json;
    less["rules"].erase(i);
    CHECK(found(less, policy) ==
          Words{"rule " + names[i] + " of the verdict inside, by the policy"});
  }
}

TEST_CASE("rules without the members that are read are damaged") {
  for (const char* key : {"rule", "tier", "metric", "scope", "against", "min", "max", "severity",
                          "confidence", "units"}) {
    CAPTURE(key);
    Json verdict = good();
    verdict["rules"][0].erase(key);
    CHECK_THROWS_AS(static_cast<void>(found(verdict)), Error);
  }
  for (const char* key : {"unit", "holds", "outcome", "figure"}) {
    CAPTURE(key);
    Json verdict = good();
    unit(verdict["rules"], 0).erase(key);
    CHECK_THROWS_AS(static_cast<void>(found(verdict)), Error);
  }
}

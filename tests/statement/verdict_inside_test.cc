// A statement's result and lists are held against the verdict that it carries.
#include "statement/verdict_inside.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/digest.h"
#include "base/error.h"
#include "gate/policy_file.h"
#include "statement/base64.h"
#include "statement/test_result.h"
#include "tests/record/recorded_run.h"

using namespace isobit;

namespace {

Verdict verdict_of(Outcome outcome) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.level = Level::kRequestReproducible;
  verdict.policy = ready_policy("level-1");
  std::string word = name(outcome);
  for (char& c : word) c = static_cast<char>(c - 'a' + 'A');
  verdict.sentence = word + " at level 1: it is so";
  RuleResult& rule = verdict.rules.emplace_back();
  rule.rule = level_rule(verdict.level, Against::kReference);
  RuleUnit& unit = rule.units.emplace_back();
  unit.unit = "load.concurrency=8";
  unit.figure.state = FigureState::kKnown;
  unit.figure.value = outcome == Outcome::kFail ? 0.5 : 0;
  judge_unit(rule.rule, unit);
  rule.outcome = unit.outcome;
  verdict.rules.emplace_back().rule = suspicious_rule(Against::kReference);
  if (outcome != Outcome::kPass)
    verdict.reasons.push_back({outcome, verdict.rules[0].rule.id, "for a reason"});
  return verdict;
}

InTotoStatement statement_of(Outcome outcome) {
  const Verdict verdict = verdict_of(outcome);
  RunRecord run = isobit::testing::recorded_run();
  run.fingerprint.id = std::string(64, '3');
  return test_result_statement(
      {.verdict = verdict, .candidate = run, .candidate_digest = std::string(64, '1')});
}

Json& resource(InTotoStatement& statement, const std::string& name) {
  for (Json& r : statement.predicate["configuration"]) {
    if (r["name"] == name) return r;
  }
  FAIL("no such resource");
  std::abort();
}

// Another content, with the digest that it has.
void put(InTotoStatement& statement, const std::string& name, const std::string& content) {
  Json& r = resource(statement, name);
  r["content"] = base64(content);
  r["digest"]["sha256"] = sha256_hex(content);
}

void edit_verdict(InTotoStatement& statement, const std::function<void(Json&)>& edit) {
  const std::string content =
      *base64_decoded(resource(statement, "verdict.json")["content"].get<std::string>());
  Json verdict = parse_json(content, "v");
  edit(verdict);
  put(statement, "verdict.json", canonical_json(verdict));
}

std::vector<std::string> found(const InTotoStatement& statement) {
  std::vector<std::string> out;
  for (const Disagreement& d : disagreements_inside(statement, "s")) out.push_back(d.what);
  return out;
}

bool tells(const InTotoStatement& statement, const std::string& what) {
  const auto all = found(statement);
  return std::ranges::find(all, what) != all.end();
}

}  // namespace

TEST_CASE("a statement as it was written agrees with its verdict, whatever the outcome") {
  for (int i = 0; i <= static_cast<int>(Outcome::kIncomplete); ++i) {
    CAPTURE(i);
    CHECK(found(statement_of(static_cast<Outcome>(i))).empty());
  }
}

TEST_CASE("a result, list or annotation that the verdict does not give is named with both") {
  InTotoStatement s = statement_of(Outcome::kFail);
  s.predicate["result"] = "PASSED";
  const auto all = disagreements_inside(s, "s");
  REQUIRE(all.size() == 1);
  CHECK(all[0].what == "result, by the verdict inside");
  CHECK(all[0].expected == "FAILED");
  CHECK(all[0].found == "PASSED");
  s = statement_of(Outcome::kFail);
  s.predicate["passedTests"] = s.predicate["failedTests"];
  s.predicate["failedTests"] = Json::array();
  CHECK(found(s) == std::vector<std::string>{"passedTests, by the verdict inside",
                                             "failedTests, by the verdict inside"});
  s = statement_of(Outcome::kFail);
  s.predicate.erase("warnedTests");
  CHECK(found(s) == std::vector<std::string>{"warnedTests, by the verdict inside"});
  s = statement_of(Outcome::kFail);
  resource(s, "verdict.json")["annotations"] = {{"isobit_outcome", "pass"}, {"isobit_level", 2}};
  CHECK(found(s) == std::vector<std::string>{"isobit_outcome, by the verdict inside",
                                             "isobit_level, by the verdict inside"});
}

TEST_CASE("a verdict whose outcome its own reasons and rules do not give is named") {
  InTotoStatement s = statement_of(Outcome::kFail);
  edit_verdict(s, [](Json& v) { v["outcome"] = "pass"; });
  CHECK(tells(s, "outcome of the verdict inside, by its reasons"));
  edit_verdict(s, [](Json& v) { v["reasons"] = Json::array(); });
  CHECK(tells(s, "outcome of the verdict inside, by rule same-tokens-loaded"));
  CHECK(tells(s, "sentence of the verdict inside"));
  s = statement_of(Outcome::kPass);
  edit_verdict(s, [](Json& v) { v["level"] = 2; });
  CHECK(tells(s, "level of the policy inside"));
}

TEST_CASE("the runs that a statement is about are named once, each with its fingerprint") {
  const InTotoStatement good = statement_of(Outcome::kPass);
  const std::string run = good.subjects[0].name;
  InTotoStatement s = good;
  s.subjects.erase(s.subjects.begin());
  CHECK(tells(s, "candidate runs that are named, each with its fingerprint"));
  s = good;
  s.subjects.push_back(s.subjects[0]);
  CHECK(tells(s, "candidate runs that are named, each with its fingerprint"));
  CHECK(tells(s, run + ", which is there once"));
  s = good;
  s.subjects.erase(s.subjects.begin() + 1);
  CHECK(found(s) == std::vector<std::string>{"fingerprint of candidate run"});
  s = good;
  s.subjects[1].name = "run/0123456789abcdef/fingerprint";
  CHECK(found(s) == std::vector<std::string>{"fingerprint of candidate run"});
  s = good;
  s.predicate["configuration"].push_back(resource_json(s.subjects[0]));
  CHECK(found(s) ==
        std::vector<std::string>{"base runs that are named, each with its fingerprint"});
  s = good;
  s.predicate["configuration"].push_back(
      {{"name", "notes"}, {"digest", {{"sha256", std::string(64, '0')}}}});
  CHECK(found(s).empty());
  s.predicate["configuration"].push_back(
      {{"name", "notes"}, {"digest", {{"sha256", std::string(64, '1')}}}});
  CHECK(found(s) == std::vector<std::string>{"notes, which is there once"});
}

TEST_CASE("the day that a statement names is one, and no override had expired on it") {
  const auto with_now = [](const Json& now) {
    InTotoStatement s = statement_of(Outcome::kPass);
    resource(s, "verdict.json")["annotations"]["isobit_now"] = now;
    return s;
  };
  CHECK(found(with_now("2026-01-31")).empty());
  for (const Json& now : {Json("banana"), Json(5), Json(), Json::array()})
    CHECK(found(with_now(now)) == std::vector<std::string>{"isobit_now"});
  InTotoStatement s = with_now("2026-01-31");
  edit_verdict(s, [&](Json& v) {
    v["policy"]["overrides"] = {
        {{"rule", "same-tokens-loaded"}, {"reason", "known"}, {"expires", "2026-01-30"}}};
    put(s, "policy.json", canonical_json(v["policy"]));
  });
  CHECK(tells(s, "isobit_now, by an override of the policy inside: at most"));
}

TEST_CASE("a policy that is not the verdict's is named") {
  InTotoStatement s = statement_of(Outcome::kPass);
  put(s, "policy.json", canonical_json(policy_to_json(ready_policy("level-2"))));
  CHECK(tells(s, "policy.json, by the verdict inside"));
  CHECK(tells(s, "rule same-bits-loaded of the verdict inside, by the policy"));
}

TEST_CASE("a policy or a verdict that is not there, or there twice, is named") {
  for (const std::string name : {"policy.json", "verdict.json"}) {
    CAPTURE(name);
    InTotoStatement s = statement_of(Outcome::kPass);
    resource(s, name).erase("content");
    CHECK(found(s) == std::vector<std::string>{name + " inside"});
    CHECK(!disagreements_inside(s, "s")[0].found);
    s = statement_of(Outcome::kPass);
    resource(s, name)["name"] = "other.json";
    CHECK(found(s) == std::vector<std::string>{name + " inside"});
    s = statement_of(Outcome::kPass);
    s.predicate["configuration"].push_back(Json(resource(s, name)));
    CHECK(found(s) == std::vector<std::string>{name + " inside, which is there once"});
  }
  InTotoStatement s = statement_of(Outcome::kPass);
  s.predicate.erase("configuration");
  CHECK(found(s).size() == 2);
}

TEST_CASE("a verdict or a policy that cannot be read is damaged") {
  for (const char* content :
       {"", "[]", "{}", "{\"format\":\"isobit.verdict\",\"version\":2}", "\xff"}) {
    CAPTURE(content);
    InTotoStatement s = statement_of(Outcome::kPass);
    put(s, "verdict.json", content);
    try {
      static_cast<void>(disagreements_inside(s, "s.json"));
      FAIL("no error was thrown");
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
      CHECK(e.message().starts_with("s.json: verdict.json"));
    }
  }
  InTotoStatement s = statement_of(Outcome::kPass);
  for (const char* key : {"outcome", "rules", "reasons", "level"}) {
    CAPTURE(key);
    InTotoStatement less = s;
    edit_verdict(less, [&](Json& v) { v.erase(key); });
    CHECK_THROWS_AS(static_cast<void>(disagreements_inside(less, "s")), Error);
  }
  edit_verdict(s, [](Json& v) { v["policy"]["level"] = 7; });
  put(s, "policy.json", "{\"level\": 7}");
  CHECK_THROWS_AS(static_cast<void>(disagreements_inside(s, "s")), Error);
}

// Policies as people write them, and what they are told where they slip.
#include "gate/policy_file.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"
#include "gate/metrics.h"
#include "tests/gate/gated_runs.h"
#include "tests/report/schema_check.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

std::string refusal(const std::string& text) {
  try {
    read_policy(text, "p.json");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::usage);
    return e.message();
  }
  return "accepted";
}

// In a policy whose second line this is.
std::string refusal_of(const std::string& members) {
  return refusal("{\"name\": \"p\", \"level\": 1,\n" + members + "}");
}

constexpr const char* kFull = R"({
  "$schema": "x", "name": "p", "description": "d", "level": 2,
  "must_match": ["model.weights.stored_root", "software.openblas", "prompts"],
  "expected_changes": {"expected": ["software.isobit"], "allowed": ["hardware.*"],
                       "unexpected": "warn"},
  "rules": [
    {"id": "r", "metric": "token_mismatch_rate", "scope": "axis", "against": "reference",
     "where": {"cells": ["a*"], "axes": {"load.concurrency": "8"}, "tags": "t", "prompts": []},
     "min": 0, "max": 0.5, "severity": "warn", "confidence": "bound"},
    {"metric": "max_drift_nats", "max": 1}
  ],
  "coverage": {"min_prompts": 1, "min_samples": 2, "cells": ["*"]},
  "overrides": [{"rule": "r", "cell": "c", "prompt": "p", "reason": "why", "expires": "2026-12-31"},
                {"rule": "same-bits", "reason": "x", "expires": "2028-02-29"}],
  "tiers": [{"name": "a", "tags": ["x"], "level": 1}, {"name": "rest"}]
})";

}  // namespace

TEST_CASE("everything that a policy says is read, and comes back the same") {
  const Policy policy = read_policy(kFull, "p.json");
  CHECK(policy.level == Level::kBitwise);
  CHECK(policy.must_match.size() == 2);
  CHECK(policy.must_match[0].what == "the weights");
  CHECK(policy.same_prompts);
  CHECK(policy.changes.unexpected == Severity::kWarn);
  REQUIRE(policy.rules.size() == 2);
  CHECK(policy.rules[0].scope == Scope::kAxis);
  CHECK(policy.rules[0].against == Against::kReference);
  CHECK(policy.rules[0].where.axes.at("load.concurrency") == std::vector<std::string>{"8"});
  CHECK(policy.rules[0].confidence == Confidence::kBound);
  CHECK(policy.rules[1].id == "rule-2");
  CHECK(policy.rules[1].severity == Severity::kFail);
  CHECK(policy.overrides[1].expires == Date{.year = 2028, .month = 2, .day = 29});
  CHECK(policy.overrides[0].where == "p.json, line 13, column 17");
  CHECK(policy.tiers[1].level == Level::kBitwise);
  const Json once = policy_to_json(policy);
  CHECK(policy_to_json(read_policy(once.dump(), "again")) == once);
}

TEST_CASE("a slip is told with its line, its column and the nearest word") {
  CHECK(refusal_of("\"ruls\": []") ==
        "p.json, line 2, column 1: unknown key \"ruls\" (did you "
        "mean 'rules'?)");
  CHECK(refusal_of("\"rules\": [\n  {\"metric\": \"token_mismach_rate\", \"max\": 0}]") ==
        "p.json, line 3, column 14: unknown metric \"token_mismach_rate\" (did you mean "
        "'token_mismatch_rate'?); isobit policy metrics lists them");
  CHECK(refusal_of("\"rules\": [{\"metric\": \"token_flips\", \"maximum\": 0}]") ==
        "p.json, line 2, column 37: unknown key \"maximum\"");
  CHECK(contains(refusal_of("\"rules\": [{\"metric\": \"token_flips\", \"max\": 0, \"scope\": "
                            "\"cel\"}]"),
                 "column 56: \"scope\" is \"cel\", not run, cell, axis, tag, prompt (did you mean "
                 "'cell'?)"));
  CHECK(contains(refusal_of("\"overrides\": [{\"rule\": \"same-token\", \"reason\": \"r\", "
                            "\"expires\": \"2026-01-01\"}]"),
                 "no rule has the id \"same-token\" (did you mean 'same-tokens'?)"));
  CHECK(contains(refusal_of("\"must_match\": [\"modle.weights\"]"), "did you mean 'model'"));
  CHECK(contains(refusal_of("\"expected_changes\": {\"expected\": [\"softwar.*\"]}"),
                 "line 2, column 35"));
}

TEST_CASE("what cannot be meant is refused") {
  const char* members[] = {
      "\"rules\": [{\"metric\": \"token_flips\"}]",
      "\"rules\": [{\"metric\": \"token_flips\", \"min\": 2, \"max\": 1}]",
      "\"rules\": [{\"metric\": \"token_mismatch_rate\", \"max\": 5}]",
      "\"rules\": [{\"metric\": \"token_flips\", \"max\": 1, \"confidence\": \"bound\"}]",
      "\"rules\": [{\"metric\": \"ttft_p95_ratio\", \"max\": 1, \"scope\": \"prompt\"}]",
      "\"rules\": [{\"id\": \"same-bits\", \"metric\": \"token_flips\", \"max\": 1}]",
      "\"rules\": [{\"id\": \"\", \"metric\": \"token_flips\", \"max\": 1}]",
      "\"rules\": [{\"metric\": 4, \"max\": 1}]",
      "\"rules\": {}",
      "\"rules\": [{\"metric\": \"std_length\", \"scope\": \"cell\", \"max\": 1, \"where\": "
      "{\"tags\": \"t\"}}]",
      "\"rules\": [{\"metric\": \"certified_rate\", \"min\": 0.5, \"where\": {\"cells\": \"*\"}}]",
      "\"coverage\": {\"min_prompts\": -1}",
      "\"coverage\": {\"min_prompts\": 1.5}",
      "\"overrides\": [{\"reason\": \"r\", \"expires\": \"2026-01-01\"}]",
      "\"overrides\": [{\"cell\": \"c\", \"expires\": \"2026-01-01\"}]",
      "\"overrides\": [{\"cell\": \"c\", \"reason\": \"r\", \"expires\": \"2026-02-30\"}]",
      "\"overrides\": [{\"cell\": \"c\", \"reason\": \"r\", \"expires\": \"2026-02-03T00\"}]",
      "\"tiers\": [{\"name\": \"a\"}, {\"name\": \"b\"}]",
      "\"tiers\": [{\"name\": \"a\", \"tags\": [\"x\"]}, {\"name\": \"a\"}]",
      "\"tiers\": [{\"name\": \"a\", \"level\": 3}]",
      "\"must_match\": [\"model\"]",
      "\"must_match\": \"prompts\", \"must_match\": []",
  };
  for (const char* member : members) {
    CAPTURE(member);
    CHECK(contains(refusal_of(member), "line 2, column ") !=
          contains(refusal_of(member), "duplicate key"));
  }
  CHECK(contains(refusal("{\"level\": 1}"), "needs \"name\""));
  CHECK(contains(refusal("{\"name\": \"x\"}"), "needs \"level\""));
  CHECK(contains(refusal("[]"), "expected an object"));
  CHECK(contains(refusal("{\"name\": \"x\", }"), "line 1"));
}

TEST_CASE("a policy cut at any byte, or with a byte flipped, is refused or read, never worse") {
  const std::string text = kFull;
  for (size_t n = 0; n + 1 < text.size(); ++n) CHECK(refusal(text.substr(0, n)) != "accepted");
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char bit : {1, 4, 64}) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ bit);
      CHECK_FALSE(refusal(flipped).empty());
    }
  }
}

TEST_CASE("the ready policies are the files, keep to the schema, and name what their level says") {
  REQUIRE(ready_policies().size() == 4);
  for (const ReadyPolicy& ready : ready_policies()) {
    const std::string file =
        std::string(ISOBIT_SOURCE_DIR) + "/examples/policies/" + ready.name + ".json";
    CHECK(read_file(file, 1 << 20) == ready.text);
    const Policy policy = ready_policy(ready.name);
    CHECK(policy.name == ready.name);
    const Json json = parse_json(ready.text, "p", {.comments = JsonComments::allowed});
    for (const std::string& error : SchemaCheck("policy.schema.json").errors(json))
      FAIL_CHECK(ready.name << error);
  }
  for (const int level : {0, 1, 2}) {
    const Policy policy = ready_policy("level-" + std::to_string(level));
    CHECK(policy_to_json(policy) == policy_to_json(level_policy(*level_from_number(level))));
  }
  CHECK_THROWS_WITH_AS(ready_policy("level-3"),
                       "there is no ready policy 'level-3' (did you mean 'level-0'?)", Error);
}

TEST_CASE("the schema takes what the program takes, and knows the same metrics") {
  SchemaCheck schema("policy.schema.json");
  CHECK(schema.errors(parse_json(kFull, "p")).empty());
  CHECK(schema.errors(policy_to_json(read_policy(kFull, "p"))).empty());
  Json wrong = parse_json(kFull, "p");
  wrong["rules"][0]["metric"] = "flips";
  CHECK_FALSE(schema.errors(wrong).empty());
  const Json file = parse_json(
      read_file(std::string(ISOBIT_SOURCE_DIR) + "/schemas/policy.schema.json", 1 << 20), "s");
  CHECK(file["$defs"]["rule"]["properties"]["metric"]["enum"] == Json(metric_names()));
}

TEST_CASE("days are days of the calendar") {
  for (const char* day : {"2026-01-31", "2024-02-29", "2000-02-29", "2026-01-31T23:59:59Z"})
    CHECK(parse_date(day));
  for (const char* day : {"2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00",
                          "2026-1-1", "26-01-01", "2026/01/01", "2026-01-31x", "", "2026-04-31"})
    CHECK_FALSE(parse_date(day));
  CHECK(*parse_date("2026-12-31") < *parse_date("2027-01-01"));
  CHECK(date_text(*parse_date("2026-01-02")) == "2026-01-02");
}

TEST_CASE("a pattern's star stands for any characters") {
  CHECK(matches("hardware.*", "hardware.cpu.model"));
  CHECK(matches("*", ""));
  CHECK(matches("a*b*c", "aXbbYc"));
  CHECK(matches("load.concurrency=8", "load.concurrency=8"));
  CHECK_FALSE(matches("a*b", "abc"));
  CHECK_FALSE(matches("", "a"));
  CHECK_FALSE(matches(std::string(60, '*') + "x", std::string(5000, 'a')));
}

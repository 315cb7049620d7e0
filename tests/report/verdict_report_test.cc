// A gate's verdict as JSON and on a terminal: it keeps to its schema, fits 80 columns, and shows
// hostile names as escapes.
#include <doctest/doctest.h>

#include <sstream>

#include "gate/metrics.h"
#include "report/report.h"
#include "report/untrusted_text.h"
#include "tests/gate/gated_runs.h"
#include "tests/report/schema_check.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr const char* kMembers = R"(
  "tiers": [{"name": "exact", "tags": ["t"], "level": 2}, {"name": "rest", "level": 0}],
  "expected_changes": {"expected": ["software.nothing"], "unexpected": "warn"},
  "rules": [
    {"id": "first", "metric": "first_flip_position", "scope": "axis", "min": 3, "severity": "info"},
    {"id": "slow", "metric": "latency_p95_ratio", "max": 1},
    {"id": "bound", "metric": "token_mismatch_rate", "max": 0.1, "confidence": "bound"},
    {"id": "empty", "metric": "token_flips", "scope": "cell", "max": 0, "where": {"cells": "x"}}],
  "overrides": [{"cell": "load.concurrency=32", "reason": "known", "expires": "2026-12-31"}])";

Verdict eventful_verdict() {
  RunRecord base = clean_run(8, 2), candidate = clean_run(8, 2);
  for (RunRecord* run : {&base, &candidate}) run->requests[0].tags = {"t"};
  flip(candidate, 1, 0);
  flip(candidate, 1, 3);
  candidate.fingerprint.items.push_back(
      item(FingerprintClass::kHardware, "gpu", std::string(300, 'x') + "\x1b[31m"));
  return gate_with(base, candidate, kMembers);
}

void check_schema(const Verdict& verdict) {
  const Json json = parse_json(json_line(verdict_json(verdict)), "verdict");
  for (const std::string& error : SchemaCheck("verdict.schema.json").errors(json))
    FAIL_CHECK(error);
}

}  // namespace

TEST_CASE("the JSON verdict keeps to its schema, whatever the verdict") {
  check_schema(eventful_verdict());
  check_schema(gate_with(clean_run(), clean_run(), "", 2));
  check_schema(check_run(compare_within_run(clean_run()), Level::kStatistical));
  Json wrong = verdict_json(eventful_verdict());
  wrong["rules"][0]["units"][0]["figure"].erase("deciding");
  CHECK_FALSE(SchemaCheck("verdict.schema.json").errors(wrong).empty());
}

TEST_CASE("the tables of a verdict fit 80 columns and show rules, tiers, changes and notes") {
  const std::string text = verdict_details(eventful_verdict());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
    CHECK(line.find('\x1b') == std::string::npos);
  }
  for (const char* part : {"rules:", "same-bits", "within-noise", "tiers, base -> candidate",
                           "exact", "changed in the fingerprint", "hardware.gpu", "note: override"})
    CHECK(contains(text, part));
  CHECK(verdict_details(gate_with(clean_run(), clean_run(), "", 1)).find("tiers") ==
        std::string::npos);
}

TEST_CASE("a rule says what was counted, where, and what it asks, in words") {
  RunRecord candidate = clean_run(8);
  flip(candidate, 1, 3);
  std::string text = verdict_details(gate_with(clean_run(8), candidate, "", 1));
  std::string prose;
  for (const char c : text) {
    if (c != '\n' && (c != ' ' || !prose.ends_with(' '))) prose += c;
    if (c == '\n' && !prose.ends_with(' ')) prose += ' ';
  }
  CAPTURE(prose);
  CHECK(contains(prose,
                 "load.concurrency=8, the worst of 3 cells: 1 of 8 prompts differ (12.5 %); asked: "
                 "at most 0 %"));
  CHECK(contains(prose,
                 "the worst of 3 cells: 0 of 8 answers flipped suspiciously; asked: at "
                 "most 0"));
  CHECK_FALSE(contains(prose, ": 0: "));
}

TEST_CASE("a p-value is said in a sentence") {
  Figure figure;
  figure.state = FigureState::kKnown;
  figure.value = 0.03125;
  figure.counted = "2 of 8 prompts differ, 0 of 8 between repeats";
  CHECK(figure_words(*find_metric("noise_p_value"), figure) ==
        "2 of 8 prompts differ, 0 of 8 between repeats; if noise were all, so many or more would "
        "differ "
        "with probability 0.03125");
}

TEST_CASE("where nothing was asked a difference is found, and nothing fails") {
  RunRecord run = clean_run(8);
  flip(run, 1, 3);
  const Verdict verdict = check_run(compare_within_run(run), Level::kBitwise);
  CHECK(verdict_text(verdict).starts_with("FAIL at level 2: answers depend"));
  const std::string text = finding_text(verdict);
  CHECK(text.starts_with("differences found: answers depend"));
  CHECK(contains(text, "  differs: load.concurrency=8: "));
  CHECK_FALSE(contains(text, "fail"));
  const Verdict same = check_run(compare_within_run(clean_run(8)), Level::kBitwise);
  CHECK(finding_text(same) == verdict_text(same));
}

TEST_CASE("names in a policy are shown, never obeyed") {
  const Verdict verdict = gate_with(
      clean_run(), clean_run(),
      "\"tiers\": [{\"name\": \"\\u001b[2J\\u202e\", \"level\": 1}], \"rules\": [{\"id\": "
      "\"\\u0007\\nid\", \"metric\": \"token_flips\", \"max\": -1}]");
  const std::string text = verdict_text(verdict) + verdict_details(verdict);
  for (const char c : text) CHECK((c == '\n' || (c >= ' ' && c != '\x7f')));
  CHECK(contains(text, "\\x07"));
  check_schema(verdict);
}

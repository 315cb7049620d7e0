// The formats for build servers, code hosts and monitoring: what each says of a clean, a failing, a
// warning and an unjudgeable comparison. Whether a real parser and the published schemas take them
// is tested over whole files in tests/app/report_schemas_test.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "report/findings.h"
#include "report/report.h"
#include "report/report_formats.h"
#include "report/untrusted_text.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

struct Gated {
  RunRecord base, candidate;
  RunComparison comparison;
  Verdict verdict;
  ReportInput input() const {
    return {.comparison = comparison,
            .verdict = verdict,
            .measures = measure_run(candidate),
            .location = "deploy/policy.json",
            .tool_version = "0.1.0"};
  }
};

Gated gated(const RunRecord& base, const RunRecord& candidate, const Policy& policy) {
  Gated out{.base = base, .candidate = candidate, .comparison = {}, .verdict = {}};
  out.comparison = compare_runs(base, candidate);
  const RunComparison within = compare_within_run(candidate);
  GateRequest request;
  request.policy = &policy;
  request.candidate_within = &within;
  out.verdict = gate(out.comparison, request);
  return out;
}

// What same-tokens finds for a prompt; "": for all.
Policy letting_through(const std::string& prompt) {
  Policy policy = level_policy(Level::kRequestReproducible);
  policy.overrides.push_back({.rule = "same-tokens",
                              .cell = "",
                              .prompt = prompt,
                              .reason = "driver bug 17",
                              .expires = {.year = 9999, .month = 1, .day = 1},
                              .where = ""});
  return policy;
}

Gated gated(const RunRecord& candidate, Level level = Level::kRequestReproducible) {
  return gated(clean_run(), candidate, level_policy(level));
}

// One token of p1 differs in the cell load.concurrency=8, at a narrow margin.
RunRecord flipped_run() {
  RunRecord run = clean_run();
  run.id = "run-b";
  trace_of(run, 1, 1).positions[1] = position(21, -0.875f, 0.01f, 777);
  return run;
}

// The last bit of one logprob, and the row's hash.
RunRecord drifted_run() {
  RunRecord run = clean_run();
  run.id = "run-b";
  trace_of(run, 2, 0).positions[2].logprob = std::nextafterf(-0.75f, -1.0f);
  trace_of(run, 2, 0).positions[2].logits_hash = row_hash(778);
  return run;
}

Policy slow_policy() {
  Policy policy = level_policy(Level::kStatistical);
  policy.name = "mine";
  policy.rules.push_back({.id = "few-flips",
                          .metric = "token_flips",
                          .scope = Scope::kCell,
                          .where = {},
                          .max = 0,
                          .severity = Severity::kWarn});
  return policy;
}

const Finding* finding(const Findings& findings, const std::string& rule) {
  for (const Finding& f : findings.list) {
    if (findings.rules[f.rule_index].id == rule) return &f;
  }
  return nullptr;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a clean gate has no findings, and one that fails names the cell, the kind and where") {
  CHECK(findings_of(gated(clean_run()).input()).list.empty());
  const Findings findings = findings_of(gated(flipped_run()).input());
  REQUIRE(!findings.list.empty());
  const Finding* flip = finding(findings, "different-tokens");
  REQUIRE(flip != nullptr);
  CHECK(flip->outcome == Outcome::kFail);
  CHECK(flip->subject == "load.concurrency=8");
  CHECK(has(flip->message,
            "1 of 4 answers against the base run, the first request p1, at position 1"));
  CHECK(findings.list.front().outcome == Outcome::kFail);
}

TEST_CASE("bits that differ fail at level 2 and are a note at level 1") {
  const Finding at_1 = *finding(findings_of(gated(drifted_run()).input()), "different-bits");
  CHECK(at_1.outcome == Outcome::kPass);
  const Findings at_2 = findings_of(gated(drifted_run(), Level::kBitwise).input());
  CHECK(finding(at_2, "different-bits")->outcome == Outcome::kFail);
}

TEST_CASE("a policy's rule is a finding of its own, with the metric's meaning as help") {
  const Findings findings = findings_of(gated(clean_run(), flipped_run(), slow_policy()).input());
  const Finding* warned = finding(findings, "rule/few-flips");
  REQUIRE(warned != nullptr);
  CHECK(warned->outcome == Outcome::kWarn);
  CHECK(warned->subject == "load.concurrency=8");
  CHECK(has(findings.rules[warned->rule_index].help, "token_flips: "));
  CHECK(weight_of(warned->outcome) == Weight::kWarning);
}

TEST_CASE("what could not be judged is a finding that weighs as an error") {
  RunRecord run = clean_run();
  run.cells[2].exercised = false;
  run.cells[2].not_exercised_reason = "achieved batch 7 of 32";
  const Findings findings = findings_of(gated(run).input());
  const Finding* missing = finding(findings, "missing-evidence");
  REQUIRE(missing != nullptr);
  CHECK(has(missing->message, "achieved batch 7 of 32"));
  CHECK(weight_of(missing->outcome) == Weight::kError);
}

TEST_CASE("a finding's fingerprint stays from run to run, and no two findings share one") {
  RunRecord again = flipped_run();
  again.id = "run-c";
  trace_of(again, 1, 2).positions[3] = position(77, -0.875f, 0.02f, 779);
  const Findings first = findings_of(gated(flipped_run()).input());
  const Findings second = findings_of(gated(again).input());
  CHECK(finding(first, "different-tokens")->message !=
        finding(second, "different-tokens")->message);
  CHECK(finding(first, "different-tokens")->fingerprint ==
        finding(second, "different-tokens")->fingerprint);
  std::set<std::string> seen;
  for (const Finding& f : second.list) CHECK(seen.insert(f.fingerprint).second);
  Gated elsewhere = gated(flipped_run());
  ReportInput input = elsewhere.input();
  input.location = "other.json";
  CHECK(finding(findings_of(input), "different-tokens")->fingerprint !=
        finding(first, "different-tokens")->fingerprint);
}

TEST_CASE("JUnit: a case for the verdict, one per rule, one per cell") {
  const Gated clean = gated(clean_run());
  const std::string passed = junit_report(clean.input());
  const size_t n_cases = 1 + clean.verdict.rules.size() + clean.comparison.cells.size();
  CHECK(has(passed, "<testsuites name=\"isobit\" tests=\"" + std::to_string(n_cases) +
                        "\" failures=\"0\" errors=\"0\">"));
  const std::string failed = junit_report(gated(flipped_run()).input());
  CHECK(has(failed,
            "<testcase classname=\"isobit.cells\" name=\"load.concurrency=8\"><failure "
            "type=\"fail\""));
  CHECK(has(failed, "<testcase classname=\"isobit.verdict\" name=\"level 1\"><failure"));
  CHECK(has(failed, "<testcase classname=\"isobit.cells\" name=\"reference\"><system-out>"));
}

TEST_CASE("JUnit: a cell that did not happen is skipped, and the verdict's case is an error") {
  RunRecord run = clean_run();
  run.cells[2].exercised = false;
  const std::string report = junit_report(gated(run).input());
  CHECK(has(report, "name=\"load.concurrency=32\"><skipped type=\"inconclusive\""));
  CHECK(has(report, "name=\"level 1\"><error type=\"inconclusive\""));
  RunRecord other = clean_run();
  other.fingerprint.items[0].value = "ee55";
  CHECK(has(junit_report(gated(other).input()), "name=\"level 1\"><error type=\"incomparable\""));
}

TEST_CASE("JUnit: a rule that an override lets through is skipped and says why") {
  const std::string report =
      junit_report(gated(clean_run(), flipped_run(), letting_through("")).input());
  CHECK(has(report, "<skipped type=\"pass\" message=\"let through: driver bug 17"));
}

TEST_CASE("what an override lets through is told in each format that people review") {
  const Gated judged = gated(clean_run(), flipped_run(), letting_through("p*"));
  for (const auto& [format, report] :
       std::map<std::string, std::string>{{"md", markdown_report(judged.input())},
                                          {"junit", junit_report(judged.input())},
                                          {"sarif", sarif_report(judged.input())},
                                          {"gitlab", gitlab_report(judged.input())},
                                          {"github", github_annotations(judged.input())}}) {
    CAPTURE(format);
    CHECK(has(report, "driver bug 17"));
    CHECK(has(report, "9999-01-01"));
  }
}

TEST_CASE("SARIF: rules have help, results refer to them and hold fingerprints") {
  const Json log = parse_json(sarif_report(gated(flipped_run()).input()), "sarif");
  const Json& run = log.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("version") == "0.1.0");
  const Json& result = run.at("results").at(0);
  const Json& rule =
      run.at("tool").at("driver").at("rules").at(result.at("ruleIndex").get<size_t>());
  CHECK(rule.at("id") == result.at("ruleId"));
  CHECK(!rule.at("help").at("text").get<std::string>().empty());
  CHECK(result.at("level") == "error");
  CHECK(result.at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri") ==
        "deploy/policy.json");
  CHECK(result.at("partialFingerprints").at("isobitFinding/v1").get<std::string>().size() == 64);
  CHECK(parse_json(sarif_report(gated(clean_run()).input()), "sarif")
            .at("runs")
            .at(0)
            .at("results")
            .empty());
}

TEST_CASE("GitLab: an issue per finding, by weight") {
  const Json issues = parse_json(gitlab_report(gated(flipped_run()).input()), "issues");
  REQUIRE(!issues.empty());
  CHECK(issues.at(0).at("severity") == "critical");
  CHECK(issues.at(0).at("location").at("lines").at("begin") == 1);
  CHECK(gitlab_report(gated(clean_run()).input()) == "[]\n");
}

TEST_CASE("GitHub: the verdict first, then the findings, ten of a severity at most") {
  const std::vector<std::string> clean = lines_of(github_annotations(gated(clean_run()).input()));
  REQUIRE(clean.size() == 1);
  CHECK(clean[0].starts_with(
      "::notice file=deploy/policy.json,line=1,title=isobit::PASS at level 1"));
  RunRecord run = clean_run();
  RunRecord base = clean_run();
  for (int32_t c = 3; c < 40; ++c) {
    CellRecord cell = run.cells[1];
    cell.index = c;
    cell.name = "load.concurrency=" + std::to_string(100 + c);
    base.cells.push_back(cell);
    run.cells.push_back(cell);
    for (int32_t p = 0; p < 4; ++p) {
      base.samples.push_back(
          {.cell_index = c, .prompt_index = p, .repeat = 0, .trace = answer({10, 20, 30, 40 + p})});
      run.samples.push_back(
          {.cell_index = c, .prompt_index = p, .repeat = 0, .trace = answer({10, 21, 30, 40 + p})});
    }
  }
  const std::vector<std::string> failed = lines_of(
      github_annotations(gated(base, run, level_policy(Level::kRequestReproducible)).input()));
  CHECK(std::count_if(failed.begin(), failed.end(),
                      [](const std::string& line) { return line.starts_with("::error "); }) == 10);
  CHECK(has(failed.back(), "more findings, in the reports"));
}

TEST_CASE("Prometheus: gauges with help and type, a series for what was recorded and none else") {
  RunRecord run = flipped_run();
  run.label = "prod";
  run.cells[1].generated_tokens_per_s = 123.5;
  const std::string report = prometheus_report(gated(run).input());
  CHECK(has(report, "# HELP isobit_consistency_ratio "));
  CHECK(has(report, "# TYPE isobit_consistency_ratio gauge\n"));
  CHECK(has(report, "isobit_consistency_ratio{deployment=\"prod\",same=\"tokens\"} 0.75\n"));
  CHECK(has(report, "isobit_verdict{deployment=\"prod\",outcome=\"fail\"} 1\n"));
  CHECK(has(report, "isobit_verdict{deployment=\"prod\",outcome=\"pass\"} 0\n"));
  CHECK(has(report,
            "isobit_axis_divergences{deployment=\"prod\",axis=\"load.concurrency\","
            "value=\"8\",differs=\"tokens\"} 1\n"));
  CHECK(has(report, "isobit_non_finite_ratio{deployment=\"prod\"} 0\n"));
  CHECK(has(report,
            "isobit_tokens_per_second{deployment=\"prod\",cell=\"load.concurrency=8\"} "
            "123.5\n"));
  CHECK_FALSE(has(report, "isobit_prefix_cache_hit_ratio"));
  CHECK_FALSE(has(report, "isobit_latency_p95_seconds"));
}

TEST_CASE("Prometheus: cache hits, rows that are not finite, and p95 in seconds") {
  RunRecord run = clean_run();
  run.cells[1].values["engine.prefix_cache"] = "warm";
  for (int32_t p = 0; p < 4; ++p) {
    trace_of(run, 1, p).total_ms = 100 * (p + 1);
    trace_of(run, 1, p).ttft_ms = 10;
  }
  trace_of(run, 1, 0).scheduling.n_cached_tokens = 3;
  trace_of(run, 2, 0).non_finite = true;
  const std::string report = prometheus_report(gated(run).input());
  CHECK(has(report, "isobit_prefix_cache_hit_ratio{deployment=\"isobit:cpu\"} 0.25\n"));
  CHECK(has(report, "isobit_non_finite_ratio{deployment=\"isobit:cpu\"} " +
                        std::string("0.08333333333333333\n")));
  CHECK(has(report, "cell=\"load.concurrency=8\"} 0.4\n"));
}

TEST_CASE("every format is the same bytes for the same input") {
  const Gated failed = gated(flipped_run());
  for (const ReportFormat& format : report_formats())
    CHECK(format.write(failed.input()) == format.write(failed.input()));
}

TEST_CASE("the format is chosen by the longest end of the name") {
  CHECK(std::string(report_format_of("a/b.gl.json").suffix) == ".gl.json");
  CHECK(std::string(report_format_of("b.json").suffix) == ".json");
  CHECK(std::string(report_format_of("r.junit.xml").suffix) == ".junit.xml");
  CHECK_THROWS_WITH_AS(report_format_of("r.xml"), doctest::Contains("did you mean '.junit.xml'"),
                       Error);
  CHECK_THROWS_WITH_AS(report_format_of("r.sarf"), doctest::Contains("did you mean '.sarif'"),
                       Error);
  CHECK_THROWS_AS(report_format_of("r"), Error);
}

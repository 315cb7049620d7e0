#include "report/report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "report/untrusted_text.h"
#include "tests/compare/recorded_answers.h"
#include "tests/report/schema_check.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

// A run with one of everything: a flip, a drift, a truncation, a lost sample, an error, a cell not
// exercised, two groups.
RunRecord eventful_run() {
  RunRecord run = clean_run(6, 2);
  trace_of(run, 1, 2).positions[1] = position(21, -0.875f, 0.01f, 777);
  trace_of(run, 2, 1).positions[1].logprob = std::nextafterf(-0.625f, -1.0f);
  trace_of(run, 2, 1).positions[1].logits_hash = row_hash(778);
  trace_of(run, 2, 3).positions.pop_back();
  trace_of(run, 2, 4).finish_reason = FinishReason::kError;
  std::erase_if(run.samples, [](const SampleRecord& s) {
    return s.cell_index == 1 && s.prompt_index == 5 && s.repeat == 1;
  });
  run.cells[2].exercised = false;
  run.cells[2].not_exercised_reason = "achieved batch 7 of 32";
  for (CellRecord& cell : run.cells) cell.values["engine.kernel_set"] = "cpu";
  CellRecord other = run.cells[0];
  other.index = other.reference_index = 3;
  other.name = "engine.kernel_set=cpu-adaptive";
  other.values["engine.kernel_set"] = "cpu-adaptive";
  run.cells.push_back(other);
  for (int32_t p = 0; p < 6; ++p) {
    run.samples.push_back(
        {.cell_index = 3, .prompt_index = p, .repeat = 0, .trace = answer({10, 20, 30, 41 + p})});
  }
  return run;
}

struct Reports {
  RunComparison comparison;
  Verdict verdict;
  ReportInput input() const {
    return {.comparison = comparison,
            .verdict = verdict,
            .token_texts = {{20, " the"}, {21, " a"}},
            .prompt_texts = {"p", "q", "Hello"},
            .next_command = "isobit report latest -o report.md"};
  }
};

Reports within(const RunRecord& run) {
  Reports reports{.comparison = compare_within_run(run), .verdict = {}};
  reports.verdict = check_run(reports.comparison, Level::kBitwise);
  return reports;
}

Reports between(const RunRecord& base, const RunRecord& candidate) {
  Reports reports{.comparison = compare_runs(base, candidate), .verdict = {}};
  reports.verdict = gate(reports.comparison, {});
  return reports;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

size_t count_of(const std::string& text, char c) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), c));
}

void check_schema(const std::string& schema, const Json& value) {
  for (const std::string& error : SchemaCheck(schema).errors(value)) FAIL_CHECK(schema << error);
}

}  // namespace

TEST_CASE("the Markdown report opens with the verdict in plain words") {
  CHECK(first_line(markdown_report(within(clean_run(64)).input())) ==
        "**PASS at level 2: every cell gave the same answers; 64 of 64 prompts match (95 % bound: "
        "at most 4.6 % of such prompts "
        "differ)**");
  CHECK(first_line(markdown_report(within(eventful_run()).input()))
            .starts_with("**FAIL at level 2: answers depend on how"));
}

TEST_CASE("the Markdown report shows where, which tokens, how narrow and how far") {
  const std::string report = markdown_report(within(eventful_run()).input());
  CHECK(report.find("token at position 1: 20 <code> the</code> became 21 <code> a</code>; margins "
                    "0.25 and 0.01 nat; **drift**") != std::string::npos);
  CHECK(report.find("bits from position 1: logprob 0xbf200000 and 0xbf200001, 1 ulp, 6e-08 nat") !=
        std::string::npos);
  CHECK(report.find("prompt <code>Hello</code>") != std::string::npos);
  CHECK(report.find("changed by <code>engine.kernel&#95;set</code> from <code>cpu</code> to "
                    "<code>cpu-adaptive</code>: 6 of 6") != std::string::npos);
  CHECK(report.find("achieved batch 7 of 32") != std::string::npos);
  CHECK(report.find("Next: <code>isobit report latest -o report.md</code>") != std::string::npos);
}

TEST_CASE("the Markdown report of two runs says what changed in the fingerprint") {
  RunRecord candidate = clean_run();
  candidate.fingerprint.items.push_back(item(FingerprintClass::kSoftware, "openblas", "0.3.26"));
  const std::string report = markdown_report(between(clean_run(), candidate).input());
  CHECK(report.find("| software | <code>openblas</code> | unknown | <code>0.3.26</code> |") !=
        std::string::npos);
  CHECK(markdown_report(between(clean_run(), clean_run()).input())
            .find("<summary>What changed in the fingerprint</summary>\n\nNothing.") !=
        std::string::npos);
}

TEST_CASE("every table row of the Markdown report has as many cells as its header") {
  std::istringstream in(markdown_report(within(eventful_run()).input()));
  size_t expected = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("|")) {
      expected = 0;
      continue;
    }
    if (expected == 0) expected = count_of(line, '|');
    CHECK(count_of(line, '|') == expected);
  }
}

TEST_CASE("the JSON report and the comparison keep to their schemas") {
  RunRecord candidate = eventful_run();
  candidate.fingerprint.items[0].value = "ee55";
  for (const Reports& reports :
       {within(clean_run()), within(eventful_run()), between(clean_run(), clean_run()),
        between(eventful_run(), candidate), between(clean_run(6, 2), candidate)}) {
    check_schema("report.schema.json", parse_json(json_report(reports.input()), "report"));
    check_schema("comparison.schema.json",
                 parse_json(json_line(comparison_json(reports.comparison)), "comparison"));
  }
}

TEST_CASE("the schema check itself finds what is wrong") {
  Json comparison = comparison_json(within(eventful_run()).comparison);
  CHECK(SchemaCheck("comparison.schema.json").errors(comparison).empty());
  Json extra = comparison;
  extra["cells"][0]["surprise"] = 1;
  CHECK(SchemaCheck("comparison.schema.json").errors(extra).size() == 1);
  Json lacking = comparison;
  lacking["cells"][1].erase("samples");
  CHECK(SchemaCheck("comparison.schema.json").errors(lacking).size() == 1);
  Json wrong = comparison;
  wrong["cells"][1]["first_divergences"][0]["numeric"]["reference_bits"] = "bf20";
  CHECK_FALSE(SchemaCheck("comparison.schema.json").errors(wrong).empty());
}

TEST_CASE("`run --json` ends with an object of this shape") {
  const RunRecord run = eventful_run();
  const Reports reports = within(run);
  const Json summary = run_summary_json(run, reports.comparison, reports.verdict);
  CHECK(summary.begin().key() == "run");
  CHECK(summary.at("run") == "run-a");
  REQUIRE(summary.at("cells").size() == 4);
  const Json& reference = summary.at("cells")[0];
  CHECK(reference.at("cell") == "reference");
  CHECK(reference.at("samples") == 12);
  CHECK(reference.at("numeric_divergences") == 0);
  const Json& eight = summary.at("cells")[1];
  CHECK(eight.at("values").at("load.concurrency") == "8");
  CHECK(eight.at("exercised") == true);
  CHECK(eight.at("samples") == 11);
  CHECK(eight.at("numeric_divergences") == 1);
  CHECK(eight.at("token_divergences") == 1);
  REQUIRE(eight.at("first_divergences").size() == 1);
  const Json& divergence = eight.at("first_divergences")[0];
  CHECK(divergence.at("request") == "p2");
  CHECK(divergence.at("kind") == "token");
  CHECK(divergence.at("position") == 1);
  CHECK(divergence.at("margin") == 0.25);
  CHECK(divergence.at("token").at("candidate_token") == 21);
  CHECK(divergence.at("flip") == "drift");
  CHECK(summary.at("cells")[2].at("exercised") == false);
  CHECK(summary.at("cells")[2].at("first_divergences")[0].at("kind") == "numeric");
  CHECK(summary.at("verdict").at("outcome") == "fail");
}

TEST_CASE("the CSV report has one row per pair and a value for every column") {
  const Reports reports = within(eventful_run());
  std::istringstream in(csv_report(reports.input()));
  std::string line;
  std::getline(in, line);
  const size_t n_commas = count_of(line, ',');
  size_t n_rows = 0;
  while (std::getline(in, line)) {
    ++n_rows;
    bool quoted = false;
    size_t commas = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++commas;
    }
    CHECK(commas == n_commas);
    CHECK_FALSE(quoted);
  }
  CHECK(n_rows == static_cast<size_t>(reports.comparison.totals.n_pairs));
}

TEST_CASE(
    "suspicious flips come first, then sampling flips, then flips by margin, then drift by size") {
  RunRecord run = clean_run(8);
  trace_of(run, 1, 0).positions[1] = position(21, -0.875f, 0.3f, 1);  // drift, margin 0.3
  trace_of(run, 1, 1).positions[1] = position(21, -0.875f, 0.4f, 2);  // drift, margin 0.4
  trace_of(run, 1, 2).positions[1] = position(21, -0.875f, 2.5f, 3);  // suspicious
  trace_of(run, 1, 3).positions[1].token_id = 99;                     // sampling
  trace_of(run, 2, 4).positions[1].logprob -= 0.25f;                  // bits only
  trace_of(run, 2, 5).positions[1].logprob -= 0.5f;                   // bits only, further
  const RunComparison comparison = compare_within_run(run);
  std::vector<std::string> order;
  for (const RankedDivergence& ranked : worst_divergences(comparison, 99))
    order.push_back(ranked.pair->request_id);
  CHECK(order == std::vector<std::string>{"p2", "p3", "p1", "p0", "p5", "p4"});
  CHECK(worst_divergences(comparison, 2).size() == 2);
}

TEST_CASE("the same input gives the same bytes, whatever the order of rows") {
  RunRecord run = eventful_run();
  const Reports first = within(run);
  const RunRecord original = run;
  std::mt19937_64 random(11);
  std::shuffle(run.samples.begin(), run.samples.end(), random);
  std::shuffle(run.cells.begin(), run.cells.end(), random);
  const Reports second = within(run);
  CHECK(markdown_report(first.input()) == markdown_report(second.input()));
  CHECK(json_report(first.input()) == json_report(second.input()));
  CHECK(csv_report(first.input()) == csv_report(second.input()));
  CHECK(cells_table(first.comparison) + axes_table(first.comparison) ==
        cells_table(second.comparison) + axes_table(second.comparison));
  CHECK(json_line(run_summary_json(original, first.comparison, first.verdict)) ==
        json_line(run_summary_json(run, second.comparison, second.verdict)));
}

TEST_CASE("the worst divergences show tokens as text, with their numbers, where texts are known") {
  const Reports reports = within(eventful_run());
  CHECK(worst_list(reports.comparison, {}).find("token 20 became 21;") != std::string::npos);
  const std::string text = worst_list(
      reports.comparison, {.token_texts = {{20, " the"}, {21, "\x1b[2J"}}, .base_ref = {}});
  CHECK(text.find("token 20 ' the' became 21 '\\x1b[2J';") != std::string::npos);
}

TEST_CASE("the terminal summary fits 80 columns and names every cell") {
  const Reports reports = within(eventful_run());
  const std::string text = cells_table(reports.comparison) + axes_table(reports.comparison);
  std::istringstream in(text);
  std::string first_column;  // names that went on in the next line are put together again
  for (std::string line; std::getline(in, line);) {
    CHECK(display_width(line) <= 80);
    first_column += line.substr(0, line.find("  "));
  }
  for (const CellComparison& cell : reports.comparison.cells) {
    CHECK(first_column.find(cell.name) != std::string::npos);
  }
  CHECK(text.find("not exercised") != std::string::npos);
  CHECK(verdict_text(reports.verdict).starts_with("FAIL at level 2"));
  CHECK(verdict_text(reports.verdict).find("  fail: load.concurrency=8: ") != std::string::npos);
}

// A comparison and its verdict, written for people and for programs. The same input gives the same
// bytes.
//
// All text that a model, a server or a prompt supplied is untrusted in every format
// (report/untrusted_text.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "compare/run_comparison.h"
#include "gate/verdict.h"
#include "record/run_record.h"
#include "report/divergence_tails.h"
#include "report/run_measures.h"

namespace isobit {

// How a run's answers agreed with its own reference cells: one point of the trend.
struct TrendPoint {
  std::string run_id, created, label;
  Proportion token_match, bit_match;  // of prompts
};

struct ReportInput {
  const RunComparison& comparison;
  const Verdict& verdict;
  std::map<int32_t, std::string> token_texts =
      {};  // token id -> its bytes, for the tokens worth showing; may be empty
  std::vector<std::string> prompt_texts = {};  // by the base run's request index; may be empty
  std::vector<DivergenceTail> tails = {};      // of the worst divergences; may be empty
  std::string next_command = {};               // "isobit report ..."; may be empty
  RunMeasures measures = {};                   // of the candidate run
  std::string location = {};                   // file of the repository that findings are shown at
  std::string tool_version = {};               // of isobit; may be empty
  std::vector<TrendPoint> trend = {};  // of one target and its prompts, oldest first; may be empty
  std::string store_option = {};       // " --store FILE", what suggested commands end with
  std::string base_ref = {};           // of two runs: the base as those commands name it; or empty
};

// GitHub-flavoured Markdown that fits a pull request comment (65,536 characters), the verdict in
// its first line.
std::string markdown_report(const ReportInput& input);

// One self-contained page; see report_html.cc.
std::string html_report(const ReportInput& input);

// schemas/report.schema.json. Ends with a newline.
std::string json_report(const ReportInput& input);

// One row per compared or missing pair, a header first; UTF-8, '\n' ends a row.
std::string csv_report(const ReportInput& input);

// JUnit XML as Jenkins and GitLab read it: the verdict, a test case per rule, one per cell.
std::string junit_report(const ReportInput& input);

// SARIF 2.1.0, a result per finding (report/findings.h).
std::string sarif_report(const ReportInput& input);

// GitLab's code quality format, an issue per finding.
std::string gitlab_report(const ReportInput& input);

// Gauges in Prometheus' text format, for the textfile collector of node_exporter.
std::string prometheus_report(const ReportInput& input);

// Workflow commands for GitHub's runner, a line each: the verdict, then the first findings of each
// severity.
std::string github_annotations(const ReportInput& input);

// schemas/comparison.schema.json: what `compare --json` prints.
Json comparison_json(const RunComparison& comparison);
// schemas/verdict.schema.json: what `gate --json` prints and --save keeps, its policy included.
Json verdict_json(const Verdict& verdict);

// The object that `run --json` ends with: {"run", "cells": [{"cell", "values", "exercised",
// "samples", "numeric_divergences", "token_divergences", "first_divergences", ...}], "verdict"}.
Json run_summary_json(const RunRecord& run, const RunComparison& comparison,
                      const Verdict& verdict);

// One line of pure ASCII, safe on a terminal. The way to print every Json above.
std::string json_line(const Json& value);

// For a terminal of 80 columns: one line per cell, then the axes, then the verdict and its reasons.
std::string cells_table(const RunComparison& comparison);
std::string axes_table(const RunComparison& comparison);
std::string verdict_text(const Verdict& verdict);
// The same where nothing was asked, so that nothing failed: "differences found: ...".
std::string finding_text(const Verdict& verdict);
// What a gate adds to that: its rules with their figures, its tiers with their price, what changed
// in the fingerprint, and what was let through.
std::string verdict_details(const Verdict& verdict);

// The pairs whose divergence is most worth a look: suspicious and sampling flips, then flips by
// margin, then drift by size.
struct RankedDivergence {
  const CellComparison* cell = nullptr;
  const PairComparison* pair = nullptr;
};
std::vector<RankedDivergence> worst_divergences(const RunComparison& comparison, size_t n);

// The same for a terminal: each by the name that `isobit explain` takes. Empty where none is.
struct WorstList {
  size_t n = 5;
  std::map<int32_t, std::string> token_texts = {};  // as in ReportInput
  std::string base_ref = {};                        // as in ReportInput
};
std::string worst_list(const RunComparison& comparison, const WorstList& list = {});

}  // namespace isobit

// Hostile strings in every place that a model, a server or a user can fill, through every format.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "report/report.h"
#include "report/untrusted_text.h"
#include "tests/compare/recorded_answers.h"
#include "tests/report/schema_check.h"

using namespace isobit;
using namespace isobit::testing;
using namespace std::string_literals;

namespace {

std::vector<std::string> hostile_strings() {
  std::string every_byte;
  for (int b = 0; b < 256; ++b) every_byte += static_cast<char>(b);
  return {"<script>alert(1)</script>",
          "</code></td></tr></table><img src=x onerror=alert(1)>",
          "|a|b|\n|---|---|\n",
          "```\n# heading\n",
          "`code` *bold* _it_ [link](javascript:alert(1)) ![i](https://evil.example/x.png)",
          "@everyone #1 www.evil.example https://evil.example",
          "=cmd|'/C calc'!A0",
          "+1+1",
          "-2+3",
          "@SUM(1)",
          "\t=1",
          "\r=1",
          "\"quoted\",\"and,comma\"",
          "\x1b[2J\x1b]0;owned\x07\x1b[31m",
          "\u009b31m",
          "\u202Egnp.exe",
          "a\0b"s,
          "\xff\xfe\xc3",
          "\xed\xa0\x80",
          "::set-output name=x::y\n::error::z",
          "%0a%0d",
          "::error::z",
          "::ERROR file=a::z",
          std::string(70, 'a') + "::warning::z " + std::string(70, 'b') + " ::group::g",
          "##[error]z ##vso[task.setvariable variable=a]b ##teamcity[message text='t']",
          "]]></failure></testcase><testcase name=\"x\">",
          "x\"} 1\nisobit_verdict{outcome=\"pass\"} 1",
          "[text](https://evil.example) {0} {{1}}",
          "title=a,file=b:c",
          "<svg onload=alert(1)>",
          "&lt;b&gt;",
          every_byte,
          std::string(20000, '|'),
          std::string(20000, '\n'),
          ""};
}

// The string wherever a record has text.
RunRecord poisoned_run(const std::string& text) {
  RunRecord run = clean_run(3);
  run.id = run.target = run.label = text;
  run.fingerprint.id = text;
  run.fingerprint.items.push_back(item(FingerprintClass::kSoftware, text, text));
  for (Request& request : run.requests)
    request.id = text + std::to_string(&request - run.requests.data());
  for (CellRecord& cell : run.cells) {
    cell.name = text + std::to_string(cell.index);
    cell.values = {{text, text + std::to_string(cell.index)}, {"load.concurrency", text}};
    cell.not_exercised_reason = text;
  }
  run.cells[2].exercised = false;
  trace_of(run, 1, 0).positions[1] = position(21, -0.875f, 0.01f, 777);
  trace_of(run, 1, 1).finish_reason = FinishReason::kError;
  trace_of(run, 1, 1).error = trace_of(run, 1, 1).text = text;
  return run;
}

struct Poisoned {
  explicit Poisoned(const std::string& text)
      : run(poisoned_run(text)), within(compare_within_run(run)), base(poisoned_run(text)) {
    base.fingerprint.items.back().value += "x";
    between = compare_runs(base, run);
    for (const RunComparison* comparison : {&within, &between}) {
      verdicts.push_back(comparison == &within ? check_run(within, Level::kBitwise)
                                               : gate(between, {}));
    }
    for (size_t i = 0; i < 2; ++i) {
      inputs.push_back({.comparison = i == 0 ? within : between,
                        .verdict = verdicts[i],
                        .token_texts = {{20, text}, {21, text}},
                        .prompt_texts = {text, text, text},
                        .next_command = text,
                        .location = text});
    }
  }
  RunRecord run;
  RunComparison within;
  RunRecord base;
  RunComparison between;
  std::vector<Verdict> verdicts;
  std::vector<ReportInput> inputs;
};

bool is_printable_line_text(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F) return false;
  }
  // No C1 control, bidirectional mark or invalid byte either: making it visible changes nothing but
  // line ends, backslashes and what begins a command of a CI system, as our own annotations do.
  std::string flat = text;
  std::erase_if(flat, [](char c) { return c == '\n' || c == '\\' || c == ':' || c == '#'; });
  return visible_text(flat) == flat;
}

bool is_ascii_lines(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); });
}

// Tags that the report itself writes, and nothing else.
bool has_only_code_tags(std::string markdown) {
  for (const std::string tag :
       {"<code>", "</code>", "<details><summary>", "</summary>", "</details>"}) {
    for (size_t at; (at = markdown.find(tag)) != std::string::npos;) markdown.erase(at, tag.size());
  }
  return markdown.find('<') == std::string::npos;
}

}  // namespace

// What a build server would carry out if it saw it in its log.
bool has_no_log_command(const std::string& text) {
  static const std::regex command(
      R"(^[ \t]*::(error|warning|notice|debug|group|endgroup|set-[a-z]+|add-[a-z]+|stop-[a-z]+)( |::))",
      std::regex::icase);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, command) || line.find("##[") != std::string::npos ||
        line.find("##vso[") != std::string::npos || line.find("##teamcity[") != std::string::npos)
      return false;
  }
  return true;
}

TEST_CASE("no hostile string breaks out of the Markdown report") {
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      const std::string report = markdown_report(input);
      INFO(visible_text(text, 60));
      CHECK(is_printable_line_text(report));
      CHECK(has_only_code_tags(report));
      CHECK(report.size() <= 65536);
      for (const char* markup :
           {"`", "](", "![", "@everyone", "https:", "www.evil", "\n::", "\n# "})
        CHECK(report.find(markup) == std::string::npos);
      CHECK(report.starts_with("**"));
    }
  }
}

TEST_CASE("no hostile string is a formula, or breaks a row, in the CSV report") {
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      const std::string report = csv_report(input);
      INFO(visible_text(text, 60));
      CHECK(is_printable_line_text(report));
      std::istringstream in(report);
      std::string header;
      std::getline(in, header);
      const auto n_fields = static_cast<size_t>(std::count(header.begin(), header.end(), ',')) + 1;
      for (std::string line; std::getline(in, line);) {
        std::vector<std::string> fields(1);
        bool quoted = false;
        for (const char c : line) {
          if (c == '"') {
            quoted = !quoted;
          } else if (c == ',' && !quoted) {
            fields.emplace_back();
          } else {
            fields.back() += c;
          }
        }
        REQUIRE(fields.size() == n_fields);
        for (const std::string& field : fields) {
          const bool is_number =
              !field.empty() &&
              field.find_first_not_of("0123456789.+-einfa") == std::string::npos &&
              field.size() < 30;
          const bool is_formula =
              !field.empty() && std::string("=+-@").find(field[0]) != std::string::npos;
          CHECK((is_number || !is_formula));
        }
      }
    }
  }
}

TEST_CASE("hostile strings come back from JSON as they were, or with invalid bytes replaced") {
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      const std::string report = json_report(input);
      INFO(visible_text(text, 60));
      CHECK(is_ascii_lines(report));
      const Json parsed = parse_json(report, "report");
      CHECK(parsed.at("next_command") == json_text(text));
      CHECK(SchemaCheck("report.schema.json").errors(parsed).empty());
    }
    const std::string summary =
        json_line(run_summary_json(poisoned.run, poisoned.within, poisoned.verdicts[0]));
    CHECK(parse_json(summary, "summary").at("run") == json_text(text));
    CHECK(is_ascii_lines(summary));
    CHECK(summary.find('\n') == std::string::npos);
  }
}

TEST_CASE("no hostile string breaks out of JUnit: no tag, quote or control of its own") {
  static const std::regex own(
      "</?(testsuites|testsuite|testcase|properties|property|failure|error|skipped|system-out)"
      "( [a-z]+=\"[^\"<>&]*(&#[0-9]+;[^\"<>&]*)*\")*/?>");
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      const std::string report = junit_report(input);
      INFO(visible_text(text, 60));
      CHECK(is_printable_line_text(report));
      std::istringstream in(report.substr(report.find('\n') + 1));
      for (std::string line; std::getline(in, line);) {
        if (line.size() > 3000) continue;  // std::regex takes a stack frame per character
        const std::string rest = std::regex_replace(line, own, "");
        CHECK(rest.find_first_of("<>\"") == std::string::npos);
      }
      const size_t n_cases = 1 + input.verdict.rules.size() + input.comparison.cells.size();
      size_t found = 0;
      for (size_t at = 0; (at = report.find("<testcase ", at)) != std::string::npos; ++at) ++found;
      CHECK(found == n_cases);
    }
  }
}

TEST_CASE("SARIF and GitLab's list stay ASCII JSON, with no link or placeholder from outside") {
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      INFO(visible_text(text, 60));
      const std::string sarif = sarif_report(input), gitlab = gitlab_report(input);
      CHECK(is_ascii_lines(sarif));
      CHECK(is_ascii_lines(gitlab));
      for (const Json& result : parse_json(sarif, "sarif").at("runs").at(0).at("results")) {
        const std::string message = result.at("message").at("text");
        CHECK(message.find("](") == std::string::npos);
        CHECK(message.find("{0}") == std::string::npos);
      }
      CHECK(parse_json(gitlab, "gitlab").is_array());
    }
  }
}

TEST_CASE("GitHub's annotations are one command a line, whatever they hold") {
  static const std::regex own(
      "^(::(error|warning|notice) (file=[^:,]*,line=1,)?title=[^:,]*::.*|"
      "isobit: [0-9]+ more findings, in the reports)$");
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      INFO(visible_text(text, 60));
      const std::string report = github_annotations(input);
      CHECK(is_printable_line_text(report));
      std::istringstream in(report);
      for (std::string line; std::getline(in, line);) {
        CHECK((line.size() > 2000 || std::regex_match(line, own)));
        CHECK((line.starts_with("::") || line.starts_with("isobit: ")));
      }
    }
  }
}

TEST_CASE("Prometheus' lines are series of ours, none of them twice") {
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      INFO(visible_text(text, 60));
      const std::string report = prometheus_report(input);
      CHECK(is_printable_line_text(report));
      std::set<std::string> series;
      std::istringstream in(report);
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with("# HELP isobit_") || line.starts_with("# TYPE isobit_")) continue;
        REQUIRE(line.starts_with("isobit_"));
        CHECK(line.find("{deployment=\"") != std::string::npos);
        bool quoted = false;
        for (size_t i = 0; i < line.size(); ++i) {
          if (line[i] == '\\') {
            ++i;
          } else if (line[i] == '"') {
            quoted = !quoted;
          } else if (line[i] == ' ' && !quoted) {
            CHECK(line.find_first_not_of("0123456789.e+-", i + 1) == std::string::npos);
          }
        }
        CHECK_FALSE(quoted);
        CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
      }
    }
  }
}

TEST_CASE("no hostile string reaches the terminal") {
  for (const std::string& text : hostile_strings()) {
    const Poisoned poisoned(text);
    for (const ReportInput& input : poisoned.inputs) {
      INFO(visible_text(text, 60));
      const std::string tables = cells_table(input.comparison) + axes_table(input.comparison);
      CHECK(is_printable_line_text(tables));
      CHECK(is_printable_line_text(verdict_text(input.verdict)));
      CHECK(has_no_log_command(tables + verdict_text(input.verdict) +
                               verdict_details(input.verdict) + markdown_report(input)));
      std::istringstream in(tables);
      for (std::string line; std::getline(in, line);) CHECK(display_width(line) <= 80);
    }
  }
}

namespace {

// More of everything than the Markdown report shows, and every name `text`.
std::pair<RunRecord, RunRecord> crowded_runs(const std::string& text) {
  RunRecord run = clean_run(40);
  for (int32_t c = 3; c < 60; ++c) {
    CellRecord cell = run.cells[1];
    cell.index = c;
    cell.reference_index = c % 3 == 0 ? c : 0;
    cell.name = text + std::to_string(c);
    cell.values = {{"load.concurrency" + text, text + std::to_string(c)},
                   {"engine.kernel_set", text + std::to_string(c)}};
    cell.exercised = false;
    cell.not_exercised_reason = text;
    run.cells.push_back(cell);
    for (int32_t p = 0; p < 40; ++p)
      run.samples.push_back(
          {.cell_index = c, .prompt_index = p, .repeat = 0, .trace = answer({10, 21, 30, 40})});
  }
  for (int i = 0; i < 50; ++i)
    run.fingerprint.items.push_back(
        item(FingerprintClass::kSoftware, text + std::to_string(i), text));
  for (Request& request : run.requests) request.id += text;
  RunRecord base = clean_run(40);
  base.requests = run.requests;
  return {base, run};
}

}  // namespace

TEST_CASE("the largest hostile report still fits a pull request comment") {
  std::string invisible;
  for (int i = 0; i < 500; ++i) invisible += "\u202E";
  for (const std::string& text : {std::string(500, '|'), std::string(500, 'x'), invisible}) {
    const auto [base, run] = crowded_runs(text);
    for (const RunComparison& comparison : {compare_within_run(run), compare_runs(base, run)}) {
      const bool within = comparison.kind == ComparisonKind::kWithinRun;
      const Verdict verdict =
          within ? check_run(comparison, Level::kBitwise) : gate(comparison, {});
      const std::string report =
          markdown_report({.comparison = comparison,
                           .verdict = verdict,
                           .token_texts = {{20, text}, {21, text}},
                           .prompt_texts = std::vector<std::string>(40, text),
                           .next_command = text,
                           .location = text});
      CHECK(report.size() <= 65536);
      CHECK(report.starts_with("**" + verdict.sentence + "**\n"));
      CHECK((report.find("not shown") != std::string::npos ||
             report.find("were left out") != std::string::npos));
      if (text[0] == 'x')
        CHECK(report.find("were left out") ==
              std::string::npos);  // plain long names are no reason to drop anything
    }
  }
}

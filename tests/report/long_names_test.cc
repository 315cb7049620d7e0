// Names that are long and begin alike, through every report that bounds a length: the lines of two
// of them stay different, and the figures beside them are not cut away.
#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "report/report.h"
#include "report/untrusted_text.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr int32_t kPrompts = 8;
const std::string kBeginning(900, 'n');

RunRecord run_of_long_names() {
  RunRecord run = clean_run(kPrompts);
  for (int32_t p = 0; p < kPrompts; ++p)
    run.requests[static_cast<size_t>(p)].id = kBeginning + std::to_string(p);
  for (SampleRecord& sample : run.samples)
    sample.trace.request_id = kBeginning + std::to_string(sample.prompt_index);
  run.cells[1].name = kBeginning + " cell";
  return run;
}

// Every answer of the candidate flips, so the rule fails for every prompt.
struct Judged {
  RunRecord base = run_of_long_names(), candidate = run_of_long_names();
  RunComparison comparison;
  Verdict verdict;
  Judged() {
    candidate.id = "run-b";
    candidate.label = kBeginning + " label";
    for (int32_t p = 0; p < kPrompts; ++p)
      trace_of(candidate, 1, p).positions[1] = position(77, -0.875f, 0.01f, 777);
    Policy policy = level_policy(Level::kStatistical);
    policy.name = kBeginning + " policy";
    policy.rules.push_back(
        {.id = "no-flip", .metric = "token_flips", .scope = Scope::kPrompt, .where = {}, .max = 0});
    comparison = compare_runs(base, candidate);
    GateRequest request;
    request.policy = &policy;
    verdict = gate(comparison, request);
  }
  ReportInput input() const {
    return {.comparison = comparison, .verdict = verdict, .location = "isobit.json"};
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t n_of(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

std::string unwrapped(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

// A terminal breaks long names where its lines end.
std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::vector<std::string> digests_of(const Judged& judged) {
  std::vector<std::string> out;
  for (const Request& request : judged.candidate.requests)
    out.push_back(bounded_name(request.id, 4).substr(4));
  return out;
}

}  // namespace

TEST_CASE("reasons that differ only far into a name stay different, and keep their figures") {
  const Judged judged;
  const std::string figure = "(1 of 3 answers have another token), at most 0";
  const std::string markdown = markdown_report(judged.input());
  const std::string html = html_report(judged.input());
  const std::string terminal = unwrapped(verdict_text(judged.verdict));
  const std::string sarif = sarif_report(judged.input());
  for (const std::string& digest : digests_of(judged)) {
    CAPTURE(digest);
    const std::string tail = digest.substr(digest.find('~') + 1);
    for (const std::string* report : {&markdown, &html, &terminal, &sarif})
      CHECK(has(*report, tail));
  }
  CHECK(n_of(html, figure) >= kPrompts);
  CHECK(n_of(terminal, figure) >= kPrompts);
  CHECK(n_of(sarif, figure) >= kPrompts);
  CHECK(n_of(markdown, "1 of 3 answers have another token") >= kPrompts);
}

TEST_CASE("no cut ends in bare dots: a label, a policy, a cell end in a digest of the whole") {
  const Judged judged;
  for (const std::string& report :
       {markdown_report(judged.input()), html_report(judged.input()),
        verdict_text(judged.verdict) + verdict_details(judged.verdict)}) {
    CHECK(n_of(report, "n...") > 0);
    CHECK(n_of(report, "n...") == n_of(report, "n...~") + n_of(report, "n...&#126;"));
  }
  const std::string markdown = markdown_report(judged.input());
  CHECK(has(markdown, bounded_name(judged.candidate.label, 4).substr(8)));
  CHECK(has(markdown, bounded_name(judged.verdict.policy.name, 4).substr(8)));
  CHECK(has(markdown, bounded_name(judged.candidate.cells[1].name, 4).substr(8)));
}

TEST_CASE("JSON holds the names and the sentences whole") {
  const Judged judged;
  const std::string json = json_report(judged.input());
  CHECK_FALSE(has(json, "...~"));
  CHECK(has(json, judged.verdict.reasons.front().text));
}

TEST_CASE("a rule is told in one sentence: the terminal's reason, SARIF's message, JUnit's text") {
  const Judged judged;
  const Reason& reason = judged.verdict.reasons.front();
  const std::string sentence = bounded_sentence(reason.text, reason.names);
  CHECK(has(without_blanks(verdict_text(judged.verdict)), without_blanks(sentence)));
  CHECK(has(sarif_report(judged.input()), sentence));
  const std::string details = unwrapped(verdict_details(judged.verdict));
  const std::string junit = junit_report(judged.input());
  for (const char* words : {"the worst of 8 prompts: 1 of 3 answers", "; asked: at most 0"}) {
    CHECK(has(details, words));
    CHECK(has(junit, words));
  }
}

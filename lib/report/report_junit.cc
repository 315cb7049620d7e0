// JUnit XML in the dialect that Jenkins, GitLab and GitHub's actions read: one test case for the
// verdict, one per rule, one per cell.
//
// A failure is something that was seen to differ. An error is something that could not be judged,
// so that no reader takes it for a pass. Skipped is what was not asked: a cell that did not happen,
// a rule that an override lets through; the verdict's own case says what that amounts to.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/report.h"
#include "report/report_phrases.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kNameCharacters = 500;
constexpr size_t kMessageCharacters = 1000;
constexpr size_t kTextCharacters = 4000;

enum class CaseState { kPassed, kFailed, kError, kSkipped };

struct TestCase {
  std::string name;
  CaseState state = CaseState::kPassed;
  std::string type;  // the outcome behind the state
  std::string text;  // why, or what was seen
};

struct Suite {
  std::string name;
  std::vector<TestCase> cases = {};
};

std::string attribute(std::string_view text, size_t max_characters = kNameCharacters) {
  return xml_text(bounded_name(text, max_characters));
}

CaseState state_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
    case Outcome::kWarn:
      return CaseState::kPassed;
    case Outcome::kFail:
      return CaseState::kFailed;
    case Outcome::kInconclusive:
    case Outcome::kIncomparable:
    case Outcome::kUnsupported:
    case Outcome::kIncomplete:
      return CaseState::kError;
  }
  return CaseState::kError;
}

TestCase verdict_case(const Verdict& verdict) {
  TestCase out{.name = fmt::format("level {}", number(verdict.level)),
               .state = state_of(verdict.outcome),
               .type = name(verdict.outcome),
               .text = bounded_sentence(verdict.sentence, {verdict.policy.name})};
  for (const Reason& reason : verdict.reasons)
    out.text += fmt::format("; {}: {}: {}", name(reason.outcome),
                            bounded_name(reason.subject, kNameInSentenceCharacters),
                            bounded_sentence(reason.text, reason.names));
  for (const Reason& note : verdict.notes)
    out.text += fmt::format("; note: {}: {}", bounded_name(note.subject, kNameInSentenceCharacters),
                            bounded_sentence(note.text, note.names));
  return out;
}

TestCase rule_case(const RuleResult& result) {
  TestCase out{.name = bounded_name(result.rule.id, kNameInSentenceCharacters),
               .state = state_of(result.outcome),
               .type = name(result.outcome),
               .text = {}};
  if (!result.tier.empty())
    out.name += ", tier " + bounded_name(result.tier, kNameInSentenceCharacters);
  out.name += fmt::format(" ({} {} against {})", result.rule.metric, limit_text(result.rule),
                          name(result.rule.against));
  out.text = rule_words(result);
  if (!result.let_through.empty()) {
    out.state = CaseState::kSkipped;
    out.text =
        "let through: " + bounded_name(result.let_through, kNameCharacters) + "; " + out.text;
  } else if (result.units.empty()) {
    out.state = CaseState::kSkipped;
  }
  return out;
}

std::string cell_words(const CellComparison& cell) {
  return fmt::format(
      "{} with the same tokens, {} with the same bits, of {} answers; {} drifted, "
      "{} flipped, {} missing or failed",
      cell.counts.exact_matches, cell.counts.bit_matches, cell.counts.n_pairs,
      cell.counts.numeric_divergences, cell.counts.token_divergences,
      cell.counts.missing + cell.counts.errors);
}

// The verdict's reasons about a cell decide; without any it passes, and says what was seen.
TestCase cell_case(const RunComparison& comparison, const CellComparison& cell,
                   const Verdict& verdict) {
  TestCase out{.name = cell.name, .state = CaseState::kPassed, .type = "pass", .text = {}};
  const bool compared =
      comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference || !cell.pairs.empty();
  out.text = compared ? cell_words(cell) : "the reference that other cells are compared with";
  Outcome worst = Outcome::kPass;
  for (const Reason& reason : verdict.reasons) {
    if (reason.subject != cell.name) continue;
    if (precedence(reason.outcome) > precedence(worst)) worst = reason.outcome;
    out.text +=
        fmt::format("; {}: {}", name(reason.outcome), bounded_sentence(reason.text, reason.names));
  }
  out.state = state_of(worst);
  out.type = name(worst);
  if (!cell.exercised && worst == Outcome::kInconclusive) out.state = CaseState::kSkipped;
  return out;
}

std::vector<Suite> suites_of(const ReportInput& input) {
  Suite verdict{.name = "isobit.verdict"}, rules{.name = "isobit.rules"},
      cells{.name = "isobit.cells"};
  verdict.cases.push_back(verdict_case(input.verdict));
  for (const RuleResult& result : input.verdict.rules) rules.cases.push_back(rule_case(result));
  for (const CellComparison& cell : input.comparison.cells)
    cells.cases.push_back(cell_case(input.comparison, cell, input.verdict));
  return {verdict, rules, cells};
}

std::string case_xml(const Suite& suite, const TestCase& test) {
  std::string out =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", suite.name, attribute(test.name));
  const std::string text = attribute(test.text, kTextCharacters);
  switch (test.state) {
    case CaseState::kPassed:
      return out + fmt::format("><system-out>{}</system-out></testcase>\n", text);
    case CaseState::kFailed:
      return out + fmt::format("><failure type=\"{}\" message=\"{}\">{}</failure></testcase>\n",
                               test.type, attribute(test.text, kMessageCharacters), text);
    case CaseState::kError:
      return out + fmt::format("><error type=\"{}\" message=\"{}\">{}</error></testcase>\n",
                               test.type, attribute(test.text, kMessageCharacters), text);
    case CaseState::kSkipped:
      return out +
             fmt::format("><skipped type=\"{}\" message=\"{}\"/></testcase>\n", test.type, text);
  }
  return out;
}

// tests="8" failures="1" ...
std::string counts(const std::vector<Suite>& suites) {
  std::array<size_t, 4> n = {};
  size_t total = 0;
  for (const Suite& suite : suites) {
    total += suite.cases.size();
    for (const TestCase& test : suite.cases) ++n[static_cast<size_t>(test.state)];
  }
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", total,
                     n[static_cast<size_t>(CaseState::kFailed)],
                     n[static_cast<size_t>(CaseState::kError)]);
}

size_t n_skipped(const Suite& suite) {
  return static_cast<size_t>(
      std::count_if(suite.cases.begin(), suite.cases.end(),
                    [](const TestCase& test) { return test.state == CaseState::kSkipped; }));
}

std::string properties_xml(const ReportInput& input) {
  const RunComparison& c = input.comparison;
  std::string out = "    <properties>\n";
  for (const auto& [name, value] :
       {std::pair{"base", c.base.id}, std::pair{"candidate", c.candidate.id},
        std::pair{"target", c.candidate.target}, std::pair{"label", c.candidate.label},
        std::pair{"fingerprint", c.candidate.fingerprint.id},
        std::pair{"policy", input.verdict.policy.name}})
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, attribute(value));
  return out + "    </properties>\n";
}

}  // namespace

std::string junit_report(const ReportInput& input) {
  const std::vector<Suite> suites = suites_of(input);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"isobit\" {}>\n", counts(suites));
  for (const Suite& suite : suites) {
    out += fmt::format("  <testsuite name=\"{}\" {} skipped=\"{}\">\n", suite.name, counts({suite}),
                       n_skipped(suite));
    if (&suite == &suites.front()) out += properties_xml(input);
    for (const TestCase& test : suite.cases) out += case_xml(suite, test);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace isobit

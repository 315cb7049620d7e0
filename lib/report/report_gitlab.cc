// GitLab's code quality report, which merge requests show: a list of issues in the form that GitLab
// took from Code Climate.
#include "report/findings.h"
#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kDescriptionCharacters = 2000;
constexpr size_t kNameCharacters = 200;

const char* severity(const FindingRule& rule, Outcome outcome) {
  if (outcome == Outcome::kFail) return rule.id == "suspicious-flip" ? "blocker" : "critical";
  switch (weight_of(outcome)) {
    case Weight::kError:
      return "major";
    case Weight::kWarning:
      return "minor";
    case Weight::kNote:
      return "info";
  }
  return "info";
}

Json issue_json(const ReportInput& input, const FindingRule& rule, const Finding& finding) {
  const Json lines = {{"begin", 1}};
  const Json location = {{"path", visible_text(input.location)}, {"lines", lines}};
  return {{"description", visible_text(bounded_name(finding.message, kDescriptionCharacters))},
          {"check_name", visible_text(bounded_name(rule.id, kNameCharacters))},
          {"fingerprint", finding.fingerprint},
          {"severity", severity(rule, finding.outcome)},
          {"location", location}};
}

}  // namespace

std::string gitlab_report(const ReportInput& input) {
  const Findings findings = findings_of(input);
  Json issues = Json::array();
  for (const Finding& finding : findings.list)
    issues.push_back(issue_json(input, findings.rules[finding.rule_index], finding));
  return issues.dump(2, ' ', true) + "\n";
}

}  // namespace isobit

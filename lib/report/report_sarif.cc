// SARIF 2.1.0 (OASIS), as GitHub's code scanning and other viewers read it: a result per finding,
// each rule with help, a fingerprint that stays from run to run.
#include <fmt/format.h>

#include "report/findings.h"
#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kMessageCharacters = 2000;
constexpr size_t kNameCharacters = 200;

// Message strings know two kinds of markup, links "[text](target)" and placeholders "{0}"; both are
// broken up by an escape of the kind that visible text has anyway.
std::string message_text(std::string_view text, size_t max_characters = kMessageCharacters) {
  std::string out;
  for (const char c : visible_text(bounded_name(text, max_characters))) {
    if (c == '(' && out.ends_with(']')) {
      out += "\\x28";
    } else if (c >= '0' && c <= '9' && out.ends_with('{') && !out.ends_with("\\u{")) {
      out.back() = '\\';
      out += "x7b";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

Json message(std::string_view text) {
  return {{"text", message_text(text)}};
}

const char* level_word(Outcome outcome) {
  switch (weight_of(outcome)) {
    case Weight::kError:
      return "error";
    case Weight::kWarning:
      return "warning";
    case Weight::kNote:
      return "note";
  }
  return "note";
}

Json rule_json(const FindingRule& rule) {
  return {{"id", message_text(rule.id, kNameCharacters)},
          {"shortDescription", message(rule.summary)},
          {"fullDescription", message(rule.summary + " " + rule.help)},
          {"help", message(rule.help.empty() ? rule.summary : rule.help)},
          {"properties", {{"tags", Json::array({"determinism", "reproducibility"})}}}};
}

// GitHub tells alerts apart by primaryLocationLineHash, and would compute one of its own from the
// file's line.
Json fingerprints_json(const Finding& finding) {
  return {{"isobitFinding/v1", finding.fingerprint},
          {"primaryLocationLineHash", finding.fingerprint}};
}

// A list: code hosts show no result without a place.
Json locations_json(const ReportInput& input, const Finding& finding) {
  const Json artifact = {{"uri", uri_path(input.location)}};
  const Json region = {{"startLine", 1}};
  const Json subject = {{"name", message_text(finding.subject, kNameCharacters)},
                        {"kind", "member"}};
  return Json::array(
      {Json{{"physicalLocation", Json{{"artifactLocation", artifact}, {"region", region}}},
            {"logicalLocations", Json::array({subject})}}});
}

Json result_json(const ReportInput& input, const Findings& findings, const Finding& finding) {
  const FindingRule& rule = findings.rules[finding.rule_index];
  return {{"ruleId", message_text(rule.id, kNameCharacters)},
          {"ruleIndex", finding.rule_index},
          {"level", level_word(finding.outcome)},
          {"message", message(finding.message)},
          {"locations", locations_json(input, finding)},
          {"partialFingerprints", fingerprints_json(finding)},
          {"properties", {{"outcome", name(finding.outcome)}}}};
}

Json driver_json(const ReportInput& input, const Findings& findings) {
  Json rules = Json::array();
  for (const FindingRule& rule : findings.rules) rules.push_back(rule_json(rule));
  Json driver = {{"name", "isobit"}};
  if (!input.tool_version.empty()) driver["version"] = input.tool_version;
  driver["rules"] = std::move(rules);
  return driver;
}

Json run_properties(const ReportInput& input, const Findings& findings) {
  const RunComparison& c = input.comparison;
  return {{"verdict", name(input.verdict.outcome)},
          {"sentence", json_text(input.verdict.sentence)},
          {"base", json_text(c.base.id)},
          {"candidate", json_text(c.candidate.id)},
          {"target", json_text(bounded_name(c.candidate.target, kNameCharacters))},
          {"findingsLeftOut", findings.n_left_out}};
}

}  // namespace

std::string sarif_report(const ReportInput& input) {
  const Findings findings = findings_of(input);
  Json results = Json::array();
  for (const Finding& finding : findings.list)
    results.push_back(result_json(input, findings, finding));
  const Json run = {{"tool", Json{{"driver", driver_json(input, findings)}}},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", std::move(results)},
                    {"properties", run_properties(input, findings)}};
  const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({run})}};
  return log.dump(2, ' ', true) + "\n";
}

}  // namespace isobit

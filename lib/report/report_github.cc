// Annotations for GitHub's runner: it takes lines of a step's output that begin with "::error" as
// commands and shows them beside the change.
#include <fmt/format.h>

#include <array>

#include "report/findings.h"
#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

// The runner keeps ten annotations of each severity per step; the verdict is one of them.
constexpr size_t kMaxOfWeight = 9;
constexpr size_t kMessageCharacters = 1000;
constexpr size_t kNameCharacters = 100;

const char* command(Weight weight) {
  switch (weight) {
    case Weight::kError:
      return "error";
    case Weight::kWarning:
      return "warning";
    case Weight::kNote:
      return "notice";
  }
  return "notice";
}

std::string annotation(const ReportInput& input, Weight weight, std::string_view title,
                       std::string_view text) {
  const std::string file =
      input.location.empty() ? "" : "file=" + workflow_property(input.location) + ",line=1,";
  return fmt::format("::{} {}title={}::{}\n", command(weight), file,
                     workflow_property(bounded_name(title, kNameCharacters)),
                     workflow_message(bounded_name(text, kMessageCharacters)));
}

}  // namespace

std::string github_annotations(const ReportInput& input) {
  const Findings findings = findings_of(input);
  std::string out =
      annotation(input, weight_of(input.verdict.outcome), "isobit", input.verdict.sentence);
  std::array<size_t, 3> n_shown = {};
  size_t n_more = findings.n_left_out;
  for (const Finding& finding : findings.list) {
    const Weight weight = weight_of(finding.outcome);
    if (++n_shown[static_cast<size_t>(weight)] > kMaxOfWeight) {
      ++n_more;
      continue;
    }
    out += annotation(input, weight, "isobit " + findings.rules[finding.rule_index].id,
                      finding.message);
  }
  if (n_more > 0) out += fmt::format("isobit: {} more findings, in the reports\n", n_more);
  return out;
}

}  // namespace isobit

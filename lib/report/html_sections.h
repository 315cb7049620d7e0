// The tables and paragraphs of the HTML report, in the order of the page. Empty where there is
// nothing to say.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace isobit {

// "pass", "warn" or "fail": the class that gives an outcome its colour and shape.
std::string_view tone(Outcome outcome);

std::string verdict_section(const ReportInput& input);
std::string reasons_section(const Verdict& verdict);
std::string rules_section(const Verdict& verdict);
std::string tiers_section(const Verdict& verdict);
std::string changes_section(const ReportInput& input);  // fingerprints, identity axes
std::string cells_section(const RunComparison& comparison);
std::string divergences_section(const ReportInput& input);
std::string reading_section();

}  // namespace isobit

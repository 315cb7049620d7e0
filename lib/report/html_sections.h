// The tables and paragraphs of the HTML report, in the order of the page. Empty where there is
// nothing to say.
#pragma once

#include <string>

#include "report/report.h"

namespace isobit {

std::string verdict_section(const ReportInput& input);
std::string reasons_section(const Verdict& verdict);
std::string changes_section(const RunComparison& comparison);  // fingerprints, identity axes
std::string cells_section(const RunComparison& comparison);
std::string divergences_section(const ReportInput& input);
std::string reading_section(const ReportInput& input);

}  // namespace isobit

// The files that a report can be, by the end of their names: what `report -o` and `gate -o` take.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace isobit {

struct ReportFormat {
  const char* suffix;  // ".junit.xml"
  const char* what;    // "test results (Jenkins, GitLab)"
  std::string (*write)(const ReportInput&);
};

const std::vector<ReportFormat>& report_formats();
std::string report_suffixes();  // ".html .md .json ..."

// By the longest suffix. Throws Error(usage) that names the nearest one.
const ReportFormat& report_format_of(const std::string& path);

}  // namespace isobit

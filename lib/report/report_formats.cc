#include "report/report_formats.h"

#include <filesystem>

#include "base/error.h"

namespace isobit {

const std::vector<ReportFormat>& report_formats() {
  static const std::vector<ReportFormat> formats = {
      {".html", "a page with pictures", html_report},
      {".md", "Markdown for a pull request comment", markdown_report},
      {".json", "everything, for programs", json_report},
      {".csv", "a row per pair of answers", csv_report},
      {".junit.xml", "test results: Jenkins, GitLab", junit_report},
      {".sarif", "code scanning results: GitHub", sarif_report},
      {".gl.json", "code quality: GitLab", gitlab_report},
      {".prom", "gauges for the textfile collector of node_exporter", prometheus_report}};
  return formats;
}

std::string report_suffixes() {
  std::string out;
  for (const ReportFormat& format : report_formats())
    out += (out.empty() ? "" : " ") + std::string(format.suffix);
  return out;
}

const ReportFormat& report_format_of(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  const ReportFormat* found = nullptr;
  std::vector<std::string> suffixes;
  for (const ReportFormat& format : report_formats()) {
    suffixes.emplace_back(format.suffix);
    const std::string& suffix = suffixes.back();
    if (file.ends_with(suffix) &&
        (found == nullptr || suffix.size() > std::string(found->suffix).size()))
      found = &format;
  }
  if (found != nullptr) return *found;
  const std::string extension = std::filesystem::path(file).extension().string();
  const std::string nearest =
      extension == ".xml" ? " (did you mean '.junit.xml'?)" : did_you_mean(extension, suffixes);
  throw Error(ErrorCode::usage,
              "'" + path + "': unknown report format '" + extension + "'" + nearest,
              "use " + report_suffixes());
}

}  // namespace isobit

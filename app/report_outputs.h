// The files that `report` and `gate` write, and what they tell a build server.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "report/report.h"

namespace isobit::app {

struct OutputArguments {
  std::vector<std::string> files;
  std::string location;  // file of the repository that findings are shown at
  std::string summary;   // file that the Markdown report is added to
  std::string model;     // whose tokenizer shows tokens as text; empty: the recorded one
  bool github = false;   // annotations on stderr
  bool any() const { return !files.empty() || !summary.empty() || github; }
};

// Adds -o, --github, --summary and --location.
void declare_outputs(CLI::App& app, OutputArguments& arguments);

// Before any work. Throws Error(usage) for an unknown format, Error(environment) for a folder that
// nothing can be written to.
void check_outputs(const OutputArguments& arguments);

struct ReportedRuns {
  const RunRecord& base;
  const RunRecord& candidate;       // the same where a run is reported by itself
  const RunComparison& comparison;  // at Detail::kFull
  const Verdict& verdict;
  const std::string& ref;  // by which the candidate was named: latest, file.db:latest, an id
};

// `default_location`: where --location says nothing.
ReportInput report_input(const OutputArguments& arguments, const ReportedRuns& runs,
                         const std::string& default_location, Session& session);

// Each file is either written whole or left as it was.
void write_outputs(const OutputArguments& arguments, const ReportInput& input, Session& session);

}  // namespace isobit::app

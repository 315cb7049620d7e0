#include "app/report_outputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/baseline_runs.h"
#include "app/bundle_file.h"
#include "app/run_refs.h"
#include "app/run_trend.h"
#include "app/token_texts.h"
#include "app/version.h"
#include "base/error.h"
#include "base/file.h"
#include "base/locked_page.h"
#include "report/report_formats.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTails = 12;
constexpr size_t kMaxSummaryBytes = size_t{1} << 20;  // what GitHub shows of a step

// What only the page shows: how earlier runs fared, and where the sample commands find their run. A
// run in a file of its own is named by that file, beside whatever store the base is in.
void add_store(const OutputArguments& a, const ReportedRuns& runs, ReportInput& input,
               Session& session) {
  const std::string& own_store = session.flags.store;
  const std::string store =
      is_baseline_file(runs.ref) ? "" : parse_run_ref(runs.ref, own_store).store;
  if (store.empty() || is_bundle_file(store)) {
    return;
  }
  GlobalFlags flags;
  flags.store = store;
  input.store_option = store_option(flags);
  const auto is_page = [](const std::string& file) { return file.ends_with(".html"); };
  if (std::ranges::any_of(a.files, is_page))
    input.trend = run_trend(runs.candidate, store, session.console);
}

// What earlier commands of the same step wrote stays.
void require_room(const LockedPage& summary, const std::string& path, const std::string& report) {
  if (summary.size_with(report.size()) <= kMaxSummaryBytes) return;
  throw Error(ErrorCode::environment,
              "the summary '" + path + "' would have more than " +
                  std::to_string(kMaxSummaryBytes) + " bytes, which GitHub refuses to show",
              "give the report a step of its own");
}

// Findings are shown at files of the repository, by their path from its top.
bool leaves_the_repository(const fs::path& path) {
  const fs::path plain = path.lexically_normal();
  return plain.is_absolute() || plain.empty() || *plain.begin() == "..";
}

void check_location(const std::string& location) {
  if (location.empty() || !leaves_the_repository(location)) return;
  throw Error(ErrorCode::usage, "--location '" + location + "' is no file of the repository",
              "give its path from the repository's top, such as deploy/model.json");
}

// A policy's file, named from anywhere: seen from this folder, where it lies in it.
std::string location_from_here(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path, ignored).lexically_normal();
  const fs::path seen = whole.lexically_relative(fs::current_path(ignored));
  return seen.empty() || leaves_the_repository(seen) ? "isobit.json" : seen.string();
}

}  // namespace

void declare_outputs(CLI::App& app, OutputArguments& a) {
  app.add_option(
         "-o,--output", a.files,
         "File to write, its format by the end of its name (repeatable): " + report_suffixes())
      ->expected(1)
      ->take_all();
  app.add_flag("--github", a.github, "Annotations for GitHub's runner, on stderr");
  app.add_option("--summary", a.summary,
                 "Add the Markdown report to this file: --summary \"$GITHUB_STEP_SUMMARY\"");
  app.add_option("--location", a.location,
                 "File of the repository that findings are shown at (default: the policy's file, "
                 "else isobit.json)");
}

void check_outputs(const OutputArguments& a) {
  check_location(a.location);
  for (const std::string& file : a.files) report_format_of(file);
}

ReportInput report_input(const OutputArguments& a, const ReportedRuns& runs,
                         const std::string& default_location, Session& session) {
  const PairCounts& totals = runs.comparison.totals;
  const bool differs = totals.numeric_divergences + totals.token_divergences > 0;
  ReportInput input{
      .comparison = runs.comparison,
      .verdict = runs.verdict,
      .prompt_texts = runs.base.prompt_texts,
      .tails = divergence_tails(runs.base, runs.candidate, runs.comparison, kTails),
      .next_command = {},
      .measures = measure_run(runs.candidate),
      .location = a.location.empty() ? location_from_here(default_location) : a.location,
      .tool_version = version_number()};
  if (differs || !a.model.empty())
    input.token_texts = token_texts(runs.base, a.model, session.console);
  add_store(a, runs, input, session);
  return input;
}

void write_outputs(const OutputArguments& a, const ReportInput& input, Session& session) {
  std::vector<std::pair<std::string, std::string>> contents;  // all before the first is written
  for (const std::string& file : a.files)
    contents.emplace_back(file, report_format_of(file).write(input));
  const std::string added = a.summary.empty() ? "" : markdown_report(input);
  std::optional<LockedPage> summary;
  if (!a.summary.empty()) require_room(summary.emplace(a.summary), a.summary, added);
  for (const auto& [file, text] : contents) {
    write_file_atomically(file, text);
    session.console.say("wrote " + printable(file));
  }
  if (summary) {
    summary->append(added);
    session.console.say("wrote " + printable(a.summary));
  }
  if (a.github) write_stderr(github_annotations(input));
}

}  // namespace isobit::app

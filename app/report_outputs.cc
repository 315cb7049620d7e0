#include "app/report_outputs.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/loaded_model.h"
#include "app/version.h"
#include "base/appended_file.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report_formats.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTails = 12;
constexpr size_t kMaxSummaryBytes = size_t{1} << 20;  // what GitHub shows of a step

std::map<int32_t, std::string> token_texts(const std::string& model) {
  std::map<int32_t, std::string> out;
  if (model.empty()) return out;
  const LoadedText text = load_text(model);
  for (int32_t id = 0; id < text.tokenizer->vocab_size(); ++id) {
    const std::string_view bytes = text.tokenizer->token_bytes(id);
    out.emplace(id, bytes.empty() ? text.tokenizer->token_text(id) : bytes);
  }
  return out;
}

void require_writable(const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::environment,
                "cannot write '" + path + "': its folder '" + folder.string() +
                    "' cannot be written to: " + std::strerror(errno),
                "make the folder, or name another one");
  }
}

// What earlier commands of the same step wrote stays.
std::string summary_with(const std::string& path, const std::string& report) {
  std::error_code ignored;
  std::string text;
  if (fs::exists(path, ignored)) text = read_to_append(path);
  if (text.size() + report.size() + 1 > kMaxSummaryBytes) {
    throw Error(ErrorCode::environment,
                "the summary '" + path + "' would have more than " +
                    std::to_string(kMaxSummaryBytes) + " bytes, which GitHub refuses to show",
                "give the report a step of its own");
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text + report;
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
                 "Add the Markdown report to this file: --summary \"$GITHUB_STEP_SUMMARY\"")
      ->check(not_empty);
  app.add_option("--location", a.location,
                 "File of the repository that findings are shown at (default: the policy's file, "
                 "else isobit.json)")
      ->check(not_empty);
}

void check_outputs(const OutputArguments& a) {
  for (const std::string& file : a.files) report_format_of(file);
  for (const std::string& file : a.files) require_writable(file);
  if (!a.summary.empty()) require_writable(a.summary);
}

ReportInput report_input(const OutputArguments& a, const ReportedRuns& runs,
                         const std::string& default_location) {
  return {.comparison = runs.comparison,
          .verdict = runs.verdict,
          .token_texts = token_texts(a.model),
          .prompt_texts = runs.base.prompt_texts,
          .tails = divergence_tails(runs.base, runs.candidate, runs.comparison, kTails),
          .next_command = {},
          .measures = measure_run(runs.candidate),
          .location = a.location.empty() ? default_location : a.location,
          .tool_version = version_number()};
}

void write_outputs(const OutputArguments& a, const ReportInput& input, Session& session) {
  std::vector<std::pair<std::string, std::string>> contents;  // all before the first is written
  for (const std::string& file : a.files)
    contents.emplace_back(file, report_format_of(file).write(input));
  if (!a.summary.empty())
    contents.emplace_back(a.summary, summary_with(a.summary, markdown_report(input)));
  for (const auto& [file, text] : contents) {
    write_file_atomically(file, text);
    session.console.say("wrote " + printable(file));
  }
  if (a.github) write_stderr(github_annotations(input));
}

}  // namespace isobit::app

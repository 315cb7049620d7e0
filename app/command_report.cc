// `isobit report RUN [CAND]`: a run, or two runs compared, as Markdown, JSON or CSV.
#include <filesystem>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"

namespace isobit::app {
namespace {

constexpr size_t kTails = 12;

struct ReportArguments {
  std::string run, candidate, model;
  std::vector<std::string> outputs;
  int level = 2;
};

using Writer = std::string (*)(const ReportInput&);

Writer writer_for(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".md") return markdown_report;
  if (extension == ".html") return html_report;
  if (extension == ".json") return json_report;
  if (extension == ".csv") return csv_report;
  for (const char* later : {".xml", ".sarif", ".prom"}) {
    if (extension == later)
      throw Error(ErrorCode::unsupported, "reports as " + extension + " are not in this version",
                  "use .html, .md, .json or .csv");
  }
  throw Error(ErrorCode::usage, "'" + path + "': unknown report format '" + extension + "'",
              "use .html, .md, .json or .csv");
}

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

}  // namespace

std::function<int()> declare_report(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReportArguments>();
  app.add_option("RUN", arguments->run, "Run: latest, latest~1, an id, file.db, file.db:latest")
      ->required();
  app.add_option("CAND", arguments->candidate, "A second run: report the comparison of the two");
  app.add_option("-o,--output", arguments->outputs,
                 "Files to write, by extension: .html .md .json .csv (default: Markdown on stdout)")
      ->expected(1)
      ->take_all();
  app.add_option("--level", arguments->level,
                 "Level of the verdict: 0 noise, 1 tokens, 2 bits (default)");
  app.add_option("--model", arguments->model, "Checkpoint whose tokenizer shows tokens as text");
  return [arguments, &session] {
    const Level level = level_argument(arguments->level);
    for (const std::string& path : arguments->outputs) writer_for(path);  // before any work
    RunRecord base = load_run(arguments->run, session.flags.store), candidate;
    RunComparison comparison = compare_within_run(base, {.detail = Detail::kFull});
    Verdict verdict = check_run(comparison, level);
    if (!arguments->candidate.empty()) {
      RunPair pair =
          load_run_pair(arguments->run, arguments->candidate, session.flags.store, session.console);
      base = std::move(pair.base);
      candidate = std::move(pair.candidate);
      const RunComparison within = compare_within_run(candidate);
      comparison = compare_runs(base, candidate, {.detail = Detail::kFull});
      GateRequest request;
      request.level = level;
      request.candidate_within = &within;
      verdict = gate(comparison, request);
    }
    const ReportInput input{
        .comparison = comparison,
        .verdict = verdict,
        .token_texts = token_texts(arguments->model),
        .prompt_texts = base.prompt_texts,
        .tails = divergence_tails(base, arguments->candidate.empty() ? base : candidate, comparison,
                                  kTails)};
    for (const std::string& path : arguments->outputs) {
      write_file_atomically(path, writer_for(path)(input));
      session.console.say("wrote " + path);
    }
    if (arguments->outputs.empty())
      session.console.result(session.flags.json ? json_report(input) : markdown_report(input));
    return kOk;
  };
}

}  // namespace isobit::app

// `isobit run`: executes a matrix against the built-in engine and records every sample.
#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/recording.h"
#include "app/run_refs.h"
#include "app/statement_file.h"
#include "base/error.h"
#include "report/report.h"

namespace isobit::app {
namespace {

struct RunArguments : AuditArguments {
  int check = 0;
  bool has_check = false;
  bool fail_fast = false;
  bool resume = false;
  std::string run_id;
  StatementArguments statement;
};

void print(const RunJudgement& judged, const RunArguments& arguments, Session& session) {
  if (session.flags.json) {
    session.console.result(
        json_line(run_summary_json(judged.run, judged.comparison, judged.verdict)));
    return;
  }
  session.console.result(fmt::format(
      "run {}  fingerprint {}{}\n\n{}\n", judged.run.id, judged.run.fingerprint.id.substr(0, 12),
      judged.run.redacted ? "  redacted" : "", cells_table(judged.comparison)));
  const bool nothing_asked = !arguments.has_check && judged.comparison.totals.n_pairs == 0;
  session.console.verdict(
      nothing_asked ? "recorded; a single cell has nothing to be compared with in its own run\n"
      : arguments.has_check ? verdict_text(judged.verdict)
                            : finding_text(judged.verdict));
  const bool passes_unasked = !arguments.has_check && judged.run.status == "complete";
  if (passes_unasked && !nothing_asked && judged.verdict.outcome != Outcome::kPass)
    session.console.say("nothing was asked of the answers, so this exits 0; --check 2 fails here");
  session.console.suggest(
      fmt::format("isobit report {} -o report.md{}", judged.run.id, store_option(session.flags)));
}

// A difference that was found counts, however far the run came.
int run_exit_code(const RunJudgement& judged, bool has_check) {
  const bool failed = has_check && judged.verdict.outcome == Outcome::kFail;
  if (judged.run.status != "complete" && !failed) return kIncomplete;
  return has_check ? exit_code(judged.verdict) : static_cast<int>(kOk);
}

}  // namespace

std::function<int()> declare_run(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<RunArguments>();
  declare_audit_options(app, *arguments);
  CLI::Option* check = app.add_option(
      "--check", arguments->check,
      "Exit 1 unless every cell is the same as its reference at this level: 0 within its own "
      "noise, 1 tokens, 2 bits");
  CLI::Option* resume =
      app.add_flag("--resume", arguments->resume,
                   "Continue the latest incomplete run of the store, by its own plan");
  app.add_flag("--redact", arguments->redact,
               "Keep only digests of prompts and outputs; comparisons work as before");
  for (const char* flag :
       {"--matrix", "--axis", "--set", "--design", "--repeats", "--seed", "--label",
        "--no-teacher-forcing", "--embeddings", "--redact", "--threads"})
    app.get_option(flag)->excludes(resume);
  for (const char* flag :
       {"--prompts", "--max-tokens", "--top"})  // a redacted run needs them again
    app.get_option(flag)->each(
        [arguments = arguments.get()](const std::string&) { arguments->prompts_given = true; });
  app.add_option("--run-id", arguments->run_id, "With --resume: which run");
  app.add_flag("--fail-fast", arguments->fail_fast,
               "With --check: stop at the first answer that is not the same")
      ->needs(check);
  declare_run_caps(app, arguments->limits.caps);
  declare_statement_options(app, arguments->statement);
  app.get_option("--statement")->needs(check);
  return [arguments, check, &session] {
    arguments->has_check = check->count() > 0;
    const Level level = arguments->has_check ? level_argument(arguments->check) : Level::kBitwise;
    if (arguments->fail_fast) arguments->limits.fail_fast = level;
    if (!arguments->run_id.empty() && !arguments->resume)
      throw Error(ErrorCode::usage, "--run-id goes with --resume");
    const StatementWriter statement(arguments->statement);
    require_recordable(session.flags.store);
    arguments->now = session.flags.now;
    std::string run_id;
    if (arguments->resume) {
      run_id = resume_run(arguments->run_id, *arguments, session);
    } else {
      AuditSetup setup = set_up_audit(*arguments);
      tell_of_templates(setup, session.console);
      run_id = record_run(setup, *arguments, session);
    }
    const RunJudgement judged = judge_run(run_id, level, session);
    statement.write(nullptr, judged.run, judged.verdict, session);
    print(judged, *arguments, session);
    return run_exit_code(judged, arguments->has_check);
  };
}

}  // namespace isobit::app

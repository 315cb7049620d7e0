// `isobit demo [MODEL]`: the main job in one command. An invariant arm that passes, an adaptive arm
// that diverges, both in one store, and a report of the second.
#include <filesystem>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/installed_files.h"
#include "app/recording.h"
#include "base/error.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "report/report.h"

namespace isobit::app {
namespace {

struct DemoArguments {
  std::string model = bundled_checkpoint();
  std::string folder = "isobit-demo";
  std::string prompts = "smoke";
  int max_tokens = 32;
};

AuditArguments arm(const DemoArguments& demo, const std::string& kernel_set) {
  AuditArguments a;
  a.model = demo.model;
  a.prompts = demo.prompts;
  a.max_tokens = demo.max_tokens;
  a.axes = {"load.concurrency=1,8", "engine.chunked_prefill=off,16"};
  a.sets = {"engine.kernel_set=" + kernel_set};
  a.design = "grid";
  a.label = "demo: " + kernel_set;
  return a;
}

RunJudgement run_arm(const DemoArguments& demo, const std::string& kernel_set, Session& session) {
  AuditArguments arguments = arm(demo, kernel_set);
  arguments.now = session.flags.now;
  AuditSetup setup = set_up_audit(arguments);
  tell_of_templates(setup, session.console);
  session.console.say(fmt::format("arm {}: {} prompts, {} cells, fingerprint {}", kernel_set,
                                  setup.prompts.requests.size(), setup.plan.cells.size(),
                                  setup.fingerprint.id.substr(0, 16)));
  RunJudgement judged = judge_run(record_run(setup, arguments, session), Level::kBitwise, session);
  if (!session.flags.json)
    session.console.verdict(fmt::format("kernel set {} (run {})\n{}{}\n", kernel_set, judged.run.id,
                                        cells_table(judged.comparison),
                                        verdict_text(judged.verdict)));
  return judged;
}

Json arm_json(const char* kernel_set, const RunJudgement& judged) {
  Json out = run_summary_json(judged.run, judged.comparison, judged.verdict);
  out["kernel_set"] = kernel_set;
  return out;
}

int run_demo(const DemoArguments& demo, Session& session) {
  std::error_code failed;
  std::filesystem::create_directories(demo.folder, failed);
  if (failed)
    throw Error(ErrorCode::environment,
                "cannot create the folder '" + demo.folder + "': " + failed.message());
  if (session.flags.store == "isobit.db") session.flags.store = demo.folder + "/isobit.db";
  const std::string report = demo.folder + "/report.md";
  require_replaceable(report);  // before any work
  const RunJudgement invariant = run_arm(demo, "cpu", session),
                     adaptive = run_arm(demo, "cpu-adaptive", session);
  write_file_atomically(report, markdown_report({.comparison = adaptive.comparison,
                                                 .verdict = adaptive.verdict,
                                                 .token_texts = {},
                                                 .prompt_texts = adaptive.run.prompt_texts,
                                                 .next_command = {}}));
  if (session.flags.json) {
    session.console.result(
        json_line({{"arms", {arm_json("cpu", invariant), arm_json("cpu-adaptive", adaptive)}},
                   {"store", session.flags.store},
                   {"report", report}}) +
        "\n");
    return invariant.verdict.outcome == Outcome::kPass ? kOk : kDiverged;
  }
  const auto line = [](const RunJudgement& j) {
    return fmt::format("{} of {} answers differ in bits, {} in tokens",
                       j.comparison.totals.numeric_divergences, j.comparison.totals.n_pairs,
                       j.comparison.totals.token_divergences);
  };
  session.console.result(
      fmt::format("invariant arm (cpu):          {}\nadaptive arm (cpu-adaptive):  {}\nstore:  "
                  "{}\nreport: {}\n",
                  line(invariant), line(adaptive), session.flags.store, report));
  session.console.suggest(fmt::format("isobit report latest --store {} -o report.csv",
                                      shell_word(session.flags.store)));
  return invariant.verdict.outcome == Outcome::kPass ? kOk : kDiverged;
}

}  // namespace

std::function<int()> declare_demo(CLI::App& app, Session& session) {
  auto demo = std::make_shared<DemoArguments>();
  app.add_option("MODEL", demo->model, "Checkpoint folder or .gguf (default: the bundled one)");
  app.add_option("--folder", demo->folder, "Where store and report go (default: isobit-demo)");
  app.add_option("--prompts", demo->prompts, "Prompt set or file (default: smoke)");
  app.add_option("--max-tokens", demo->max_tokens, "Output tokens (default: 32)");
  return [demo, &session] { return run_demo(*demo, session); };
}

}  // namespace isobit::app

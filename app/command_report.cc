// `isobit report RUN [CAND]`: a run, or two runs compared, in every format that reports have.
#include <optional>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/gate_runs.h"
#include "app/policy_argument.h"
#include "app/report_outputs.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "report/report.h"

namespace isobit::app {
namespace {

constexpr const char* kDefaultLocation = "isobit.json";

struct ReportArguments {
  std::string run, candidate;
  std::string policy;
  std::optional<int> level;
  OutputArguments outputs;
};

struct Judged {
  RunRecord base, candidate;
  RunComparison comparison;
  Verdict verdict;
};

// Of a run by itself the bits are asked for: its cells share everything but their schedule.
Judged judge_one(const ReportArguments& a, const Session& session) {
  if (!a.policy.empty())
    throw Error(ErrorCode::usage, "--policy judges two runs", "isobit report BASE CAND --policy P");
  Judged out;
  out.base = load_shown_run(a.run, session.flags.store);
  out.comparison = compare_within_run(out.base, {.detail = Detail::kFull});
  out.verdict = check_run(out.comparison, level_argument(a.level.value_or(2)));
  return out;
}

// As a gate judges them.
Judged judge_two(const ReportArguments& a, Session& session) {
  Judged out;
  const Policy policy = policy_or_level(a.policy, a.level.value_or(1), a.level.has_value());
  const Date today = gate_day(session.flags.now);
  refuse_expired(policy, today);
  RunPair pair = load_run_pair(a.run, a.candidate, session.flags.store, session.console);
  out.base = std::move(pair.base);
  out.candidate = std::move(pair.candidate);
  GatedRuns gated = gate_runs(out.base, out.candidate, policy, today, Detail::kFull);
  out.comparison = std::move(gated.comparison);
  out.verdict = std::move(gated.verdict);
  return out;
}

int report(const ReportArguments& a, Session& session) {
  check_outputs(a.outputs);
  const bool one = a.candidate.empty();
  const Judged judged = one ? judge_one(a, session) : judge_two(a, session);
  ReportInput input = report_input(a.outputs,
                                   {.base = judged.base,
                                    .candidate = one ? judged.base : judged.candidate,
                                    .comparison = judged.comparison,
                                    .verdict = judged.verdict,
                                    .ref = one ? a.run : a.candidate},
                                   kDefaultLocation, session);
  if (!one) input.base_ref = base_beside(a.run, judged.base, a.candidate, session.flags.store);
  write_outputs(a.outputs, input, session);
  if (!a.outputs.any())
    session.console.result(session.flags.json ? json_report(input) : markdown_report(input));
  return kOk;
}

}  // namespace

std::function<int()> declare_report(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReportArguments>();
  app.add_option("RUN", arguments->run, kRunHelp)->required();
  app.add_option("CAND", arguments->candidate, "A second run: report the comparison of the two");
  declare_outputs(app, arguments->outputs);
  CLI::Option* files = app.get_option("--output");
  files->description(files->get_description() + "; without it the Markdown report is printed");
  app.add_option("--level", arguments->level,
                 "Level of the verdict: 0 noise, 1 tokens (default for two runs), 2 bits (default "
                 "for one)");
  app.add_option("--policy", arguments->policy,
                 "Policy that judges two runs: a file, or a ready one (isobit policy list)")
      ->check(not_empty);
  app.add_option("--model", arguments->outputs.model,
                 "Checkpoint whose tokenizer shows tokens as text (default: the run's own, where "
                 "it is still there)");
  return [arguments, &session] { return report(*arguments, session); };
}

}  // namespace isobit::app

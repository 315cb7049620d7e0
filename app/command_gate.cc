// `isobit gate BASE CAND`: may the candidate ship? A verdict, its reasons and an exit code.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/baseline_runs.h"
#include "app/gate_runs.h"
#include "app/policy_argument.h"
#include "app/report_outputs.h"
#include "app/run_refs.h"
#include "app/token_texts.h"
#include "app/upgrade.h"
#include "app/verdict_keeper.h"
#include "base/error.h"
#include "compare/sample_name.h"
#include "report/report.h"

namespace isobit::app {
namespace {

constexpr size_t kWorstShown = 3;

struct GateArguments {
  std::string base, candidate, policy;
  int level = 1;
  bool level_given = false;
  VerdictKeeping keeping;
  UpgradeArguments upgrade;
  OutputArguments outputs;
};

std::string report_command(const GateArguments& a, const Verdict& verdict, const Session& session) {
  const std::string judged_by = a.policy.empty() ? fmt::format("--level {}", number(verdict.level))
                                                 : "--policy " + shell_word(a.policy);
  return fmt::format("isobit report {} {} {} -o report.html{}", shell_word(a.base),
                     shell_word(a.candidate), judged_by, store_option(session.flags));
}

// Findings of a gate are shown at the policy that asks, where that is a file.
std::string location_of(const GateArguments& a) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(a.policy, ignored) ? a.policy : "isobit.json";
}

GatedRuns judged(const GateArguments& a, const RunRecord& base, const RunRecord& candidate,
                 const Policy& policy, const Date& today, Session& session) {
  if (!a.outputs.any()) return gate_runs(base, candidate, policy, today);
  GatedRuns gated = gate_runs(base, candidate, policy, today, Detail::kFull);
  ReportInput input = report_input(a.outputs,
                                   {.base = base,
                                    .candidate = candidate,
                                    .comparison = gated.comparison,
                                    .verdict = gated.verdict,
                                    .ref = a.candidate},
                                   location_of(a), session);
  input.base_ref = base_beside(a.base, base, a.candidate, session.flags.store);
  write_outputs(a.outputs, input, session);
  return gated;
}

// What a failed gate shows of the answers that made it fail.
WorstList worst_shown(const GateArguments& a, const RunRecord& base, const GatedDivergence& worst,
                      Session& session) {
  WorstList list{.n = kWorstShown,
                 .token_texts = {},
                 .base_ref = lasting_ref(a.base, base, session.flags.store)};
  const PairCounts& totals = worst.comparison->totals;
  if (totals.token_divergences > 0) {  // they come first, and below level 2 only they matter
    list.n = std::min(list.n, static_cast<size_t>(totals.token_divergences));
    list.token_texts = token_texts(base, "", session.console);
  }
  return list;
}

// How to find out why.
std::string explain_worst(const GateArguments& a, const RunRecord& candidate,
                          const GatedDivergence& worst, const WorstList& list,
                          const Session& session) {
  const bool between = worst.comparison->kind == ComparisonKind::kBetweenRuns;
  return explain_command(lasting_ref(a.candidate, candidate, session.flags.store) +
                             sample_in_run(*worst.at.cell, *worst.at.pair),
                         between ? list.base_ref : "", session.flags);
}

void print(const GateArguments& a, const RunRecord& base, const RunRecord& candidate,
           const GatedRuns& gated, Session& session) {
  const Verdict& verdict = gated.verdict;
  if (session.flags.json) return session.console.result(json_line(verdict_json(verdict)));
  const GatedDivergence worst =
      verdict.outcome == Outcome::kFail ? worst_of(gated) : GatedDivergence{};
  const bool shown = worst.comparison != nullptr;
  const WorstList list = shown ? worst_shown(a, base, worst, session) : WorstList{};
  session.console.verdict(verdict_text(verdict) +
                          (shown ? worst_list(*worst.comparison, list) : "") +
                          verdict_details(verdict));
  if (shown) {
    session.console.suggest(explain_worst(a, candidate, worst, list, session));
  } else if (a.outputs.files.empty()) {
    session.console.suggest(report_command(a, verdict, session));
  }
}

// What was asked for; else what the baseline that is gated against was given; else level 1.
Policy policy_of(const GateArguments& a, Session& session) {
  if (a.policy.empty() && !a.level_given) {
    if (const auto kept = policy_of_baseline(a.base, session.flags.store)) {
      session.console.say("gating by " + kept->where);
      return kept_policy(kept->text, kept->where);
    }
  }
  return policy_or_level(a.policy, a.level, a.level_given);
}

int run_gate(const GateArguments& a, Session& session) {
  check_outputs(a.outputs);
  const Policy policy = policy_of(a, session);
  const Date today = gate_day(session.flags.now);
  refuse_expired(policy, today);  // before any work
  const VerdictKeeper keeper(a.keeping);
  const auto [base, candidate, digests] =
      load_run_pair(a.base, a.candidate, session.flags.store, session.console);
  const GatedRuns gated = judged(a, base, candidate, policy, today, session);
  keeper.keep(base, candidate, gated.verdict, session, digests);
  print(a, base, candidate, gated, session);
  return keeper.exit_code_of(gated.verdict);
}

}  // namespace

std::function<int()> declare_gate(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<GateArguments>();
  app.add_option("BASE", arguments->base, kRunHelp)->required();
  app.add_option("CAND", arguments->candidate, "Run that wants to replace it, named alike")
      ->required();
  app.add_option(
      "--policy", arguments->policy,
      "Policy file, or a ready policy (isobit policy list); default: that of the baseline "
      "BASE, else level 1");
  CLI::Option* level = app.add_option("--level", arguments->level,
                                      "0: within the base's own noise; 1: same tokens; "
                                      "2: same bits");
  declare_outputs(app, arguments->outputs);
  declare_verdict_keeping(app, arguments->keeping);
  declare_upgrade_options(app, arguments->upgrade);
  return [arguments, level, &session] {
    arguments->level_given = level->count() > 0;
    if (arguments->upgrade.upgrade && !arguments->policy.empty())
      throw Error(ErrorCode::usage, "--upgrade asks by --level, not by --policy",
                  "leave --policy out, which records both arms, and then judge the two runs by it: "
                  "isobit gate latest~1 latest --policy " +
                      shell_word(arguments->policy) + store_option(session.flags));
    if (arguments->upgrade.upgrade)
      return upgrade({arguments->base, arguments->candidate}, level_argument(arguments->level),
                     arguments->upgrade, {arguments->outputs, arguments->keeping}, session);
    return run_gate(*arguments, session);
  };
}

}  // namespace isobit::app

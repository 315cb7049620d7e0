// `isobit compare BASE CAND`: where two recorded runs part, in numbers.
#include <algorithm>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/run_refs.h"
#include "app/token_texts.h"
#include "base/error.h"
#include "compare/request_differences.h"
#include "compare/sample_name.h"
#include "report/report.h"
#include "report/report_figures.h"

namespace isobit::app {
namespace {

struct CompareArguments {
  std::string base, candidate;
  bool exit_code = false;
};

// Two runs without one pair of answers in common.
std::string why_nothing(const RunComparison& comparison) {
  const RunSide& base = comparison.base;
  const RunSide& candidate = comparison.candidate;
  const std::string reason =
      base.prompts_digest != candidate.prompts_digest
          ? "their prompts or parameters differ" + in_parentheses(comparison.request_differences)
          : "they have no cell in common; give both runs the same axes";
  return fmt::format("nothing is comparable between {} and {}: {}", base.id, candidate.id, reason);
}

// What a reader of the numbers should know of the runs they come from.
void tell_of_gaps(const RunComparison& comparison, Console& console) {
  for (const RunSide* run : {&comparison.base, &comparison.candidate}) {
    const bool told = run == &comparison.candidate && run->id == comparison.base.id;
    if (told || run->status == "complete") continue;
    console.warn(
        fmt::format("run {} is not complete ({}): what it lacks counts as missing, never as the "
                    "same; `isobit run --resume` finishes it",
                    run->id, run->status));
  }
  const size_t n_only_base = comparison.prompts_only_in_base.size();
  const size_t n_only_candidate = comparison.prompts_only_in_candidate.size();
  if (comparison.totals.n_pairs > 0 && n_only_base + n_only_candidate > 0) {
    console.warn(
        fmt::format("prompts that only one run has are left out: {} of the base, {} of the "
                    "candidate",
                    n_only_base, n_only_candidate));
  }
}

int exit_code_of(const RunComparison& comparison) {
  const PairCounts& totals = comparison.totals;
  if (totals.n_pairs == 0) return kUnsupported;
  if (totals.numeric_divergences + totals.token_divergences + totals.finish_differences > 0)
    return kDiverged;
  const bool complete =
      comparison.base.status == "complete" && comparison.candidate.status == "complete";
  if (totals.unsupported > 0 && totals.bit_matches == 0) return kUnsupported;
  if (!complete) return kIncomplete;
  const bool exercised = std::ranges::all_of(
      comparison.cells, [](const CellComparison& cell) { return cell.exercised && cell.complete; });
  return totals.bit_matches == totals.n_pairs && exercised ? kOk : kInconclusive;
}

void suggest_next(const CompareArguments& a, const RunComparison& comparison, const RunRecord& base,
                  const RunRecord& candidate, Session& session) {
  const std::vector<RankedDivergence> worst = worst_divergences(comparison, 1);
  if (worst.empty()) {
    session.console.suggest(fmt::format("isobit gate {} {} --level 1{}", shell_word(a.base),
                                        shell_word(a.candidate), store_option(session.flags)));
    return;
  }
  const std::string& store = session.flags.store;
  session.console.suggest(explain_command(
      lasting_ref(a.candidate, candidate, store) + sample_in_run(*worst[0].cell, *worst[0].pair),
      lasting_ref(a.base, base, store), session.flags));
}

// Texts are read where a token is shown.
WorstList worst_of(const RunComparison& comparison, const RunRecord& base,
                   const std::string& base_ref, Console& console) {
  WorstList list{.token_texts = {}, .base_ref = base_ref};
  if (comparison.totals.token_divergences > 0) list.token_texts = token_texts(base, "", console);
  return list;
}

}  // namespace

std::function<int()> declare_compare(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<CompareArguments>();
  app.add_option("BASE", arguments->base, kRunHelp)->required();
  app.add_option("CAND", arguments->candidate, "Run to compare with it")->required();
  app.add_flag(
      "--exit-code", arguments->exit_code,
      "Exit 1 when anything differs, 4 when nothing is comparable, 5 or 8 when evidence is "
      "missing");
  return [arguments, &session] {
    const auto [base, candidate, digests] =
        load_run_pair(arguments->base, arguments->candidate, session.flags.store, session.console);
    const RunComparison comparison = compare_runs(base, candidate, {.detail = Detail::kFull});
    tell_of_gaps(comparison, session.console);
    if (comparison.totals.n_pairs == 0) session.console.warn(why_nothing(comparison));
    if (session.flags.json) {
      session.console.result(json_line(comparison_json(comparison)));
    } else {
      const WorstList list =
          worst_of(comparison, base, lasting_ref(arguments->base, base, session.flags.store),
                   session.console);
      session.console.result(fmt::format(
          "base {}  candidate {}\n\n{}\n{}{}{}", base.id, candidate.id, cells_table(comparison),
          axes_table(comparison), worst_list(comparison, list), figures_text(comparison)));
      suggest_next(*arguments, comparison, base, candidate, session);
    }
    return arguments->exit_code ? exit_code_of(comparison) : kOk;
  };
}

}  // namespace isobit::app

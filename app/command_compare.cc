// `isobit compare BASE CAND`: where two recorded runs part, in numbers.
#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "report/report.h"

namespace isobit::app {
namespace {

struct CompareArguments {
  std::string base, candidate;
  bool exit_code = false;
};

// Two runs without one pair of answers in common.
std::string why_nothing(const RunRecord& base, const RunRecord& candidate) {
  const char* reason = base.prompts_digest != candidate.prompts_digest
                           ? "their prompts or parameters differ"
                           : "they have no cell in common; give both runs the same axes";
  return fmt::format("nothing is comparable between {} and {}: {}", base.id, candidate.id, reason);
}

}  // namespace

std::function<int()> declare_compare(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<CompareArguments>();
  app.add_option("BASE", arguments->base, "Run: latest, latest~1, an id, file.db, file.db:latest")
      ->required();
  app.add_option("CAND", arguments->candidate, "Run to compare with it")->required();
  app.add_flag("--exit-code", arguments->exit_code,
               "Exit 1 when anything differs, 4 when nothing is comparable");
  return [arguments, &session] {
    const RunRecord base = load_run(arguments->base, session.flags.store),
                    candidate = load_run(arguments->candidate, session.flags.store);
    const RunComparison comparison = compare_runs(base, candidate);
    if (comparison.totals.n_pairs == 0) session.console.warn(why_nothing(base, candidate));
    if (session.flags.json) {
      session.console.result(json_line(comparison_json(comparison)));
    } else {
      session.console.result(fmt::format("base {}  candidate {}\n\n{}\n{}", base.id, candidate.id,
                                         cells_table(comparison), axes_table(comparison)));
      session.console.suggest(
          fmt::format("isobit gate {} {} --level 1{}", shell_word(arguments->base),
                      shell_word(arguments->candidate), store_option(session.flags)));
    }
    if (!arguments->exit_code) return kOk;
    const PairCounts& totals = comparison.totals;
    if (totals.n_pairs == 0) return kUnsupported;
    return totals.bit_matches == totals.n_pairs ? kOk : kDiverged;
  };
}

}  // namespace isobit::app

// `isobit gate BASE CAND`: may the candidate ship? A verdict, its reasons and an exit code.
#include <fmt/format.h>

#include "app/audit.h"
#include "app/clock.h"
#include "app/exit_codes.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "report/report.h"
#include "store/store.h"

namespace isobit::app {
namespace {

struct GateArguments {
  std::string base, candidate;
  int level = 1;
  bool fail_on_warn = false;
  bool save = false;
};

void save_verdict(const RunRecord& base, const RunRecord& candidate, const Verdict& verdict,
                  const Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  store.save_comparison({.base_run = base.id,
                         .candidate_run = candidate.id,
                         .created = utc_now(),
                         .level = number(verdict.level),
                         .verdict = name(verdict.outcome),
                         .document_json = verdict_json(verdict).dump()});
  store.close();
}

int gate_exit_code(const Verdict& verdict, bool fail_on_warn) {
  return verdict.outcome == Outcome::kWarn && fail_on_warn ? static_cast<int>(kWarnings)
                                                           : exit_code(verdict);
}

}  // namespace

std::function<int()> declare_gate(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<GateArguments>();
  app.add_option("BASE", arguments->base, "Run: latest, latest~1, an id, file.db, file.db:latest")
      ->required();
  app.add_option("CAND", arguments->candidate, "Run that wants to replace it")->required();
  app.add_option("--level", arguments->level, "1: same tokens (default); 2: same bits");
  app.add_flag("--fail-on-warn", arguments->fail_on_warn, "Exit 7 where the verdict is a warning");
  app.add_flag("--save", arguments->save, "Keep the verdict in the store");
  return [arguments, &session] {
    GateRequest request;
    request.level = level_argument(arguments->level);
    const RunRecord base = load_run(arguments->base, session.flags.store),
                    candidate = load_run(arguments->candidate, session.flags.store);
    const RunComparison within = compare_within_run(candidate),
                        comparison = compare_runs(base, candidate);
    request.candidate_within = &within;
    const Verdict verdict = gate(comparison, request);
    if (arguments->save) save_verdict(base, candidate, verdict, session);
    if (session.flags.json) {
      session.console.result(json_line(verdict_json(verdict)));
    } else {
      session.console.result(verdict_text(verdict));
      session.console.suggest(fmt::format(
          "isobit report {} {} --level {} -o report.md{}", shell_word(arguments->base),
          shell_word(arguments->candidate), arguments->level, store_option(session.flags)));
    }
    return gate_exit_code(verdict, arguments->fail_on_warn);
  };
}

}  // namespace isobit::app

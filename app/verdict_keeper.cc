#include "app/verdict_keeper.h"

#include "app/audit.h"
#include "app/clock.h"
#include "app/exit_codes.h"
#include "report/report.h"
#include "store/store.h"

namespace isobit::app {
namespace {

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

}  // namespace

void declare_verdict_keeping(CLI::App& app, VerdictKeeping& a) {
  app.add_flag("--fail-on-warn", a.fail_on_warn, "Exit 7 where the verdict is a warning");
  declare_statement_options(app, a.statement);
  app.add_flag("--save", a.save, "Keep the verdict and its policy in the store");
}

VerdictKeeper::VerdictKeeper(const VerdictKeeping& arguments)
    : arguments_(arguments), statement_(arguments.statement) {}

void VerdictKeeper::keep(const RunRecord& base, const RunRecord& candidate, const Verdict& verdict,
                         Session& session, const RecordedDigests& digests) const {
  if (arguments_.save) save_verdict(base, candidate, verdict, session);
  statement_.write(&base, candidate, verdict, session, digests);
}

int VerdictKeeper::exit_code_of(const Verdict& verdict) const {
  return verdict.outcome == Outcome::kWarn && arguments_.fail_on_warn ? static_cast<int>(kWarnings)
                                                                      : exit_code(verdict);
}

}  // namespace isobit::app

#include "app/baseline_verify.h"

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/gate_runs.h"
#include "app/policy_argument.h"
#include "app/recording.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "report/report.h"
#include "report/text_wrap.h"
#include "store/store.h"

namespace isobit::app {
namespace {

// The run that would be recorded, before it is: enough to say that it could not be compared.
RunRecord unrecorded(const RunRecord& base, const AuditSetup& setup) {
  RunRecord run = base;
  run.id = "(not recorded)";
  run.fingerprint = setup.fingerprint;
  run.samples.clear();
  run.forced.clear();
  return run;
}

std::pair<Baseline, RunRecord> load_baseline(const std::string& name, const Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRead);
  Baseline baseline = store.baseline_history(name).front();
  RunRecord run = store.load_run(baseline.run_id);
  return {std::move(baseline), std::move(run)};
}

void print(const Baseline& baseline, const RunRecord* run, const Verdict& verdict,
           Session& session) {
  if (session.flags.json) {
    session.console.result(json_line({{"baseline", baseline.name},
                                      {"version", baseline.version},
                                      {"base_run", baseline.run_id},
                                      {"run", run ? Json(run->id) : Json()},
                                      {"verdict", verdict_json(verdict)}}) +
                           "\n");
    return;
  }
  session.console.result(wrapped_words(fmt::format("baseline {} version {} (run {}) against {}",
                                                   baseline.name, baseline.version, baseline.run_id,
                                                   run ? "run " + run->id + ", recorded now"
                                                       : "this machine; nothing was computed")) +
                         "\n");
  session.console.verdict(verdict_text(verdict) + verdict_details(verdict));
  if (run)
    session.console.suggest(fmt::format("isobit gate @{} {} -o report.html{}", baseline.name,
                                        run->id, store_option(session.flags)));
}

}  // namespace

void declare_baseline_verify(CLI::App& app, BaselineVerify& v) {
  app.add_option("MODEL", v.audit.model,
                 "Checkpoint folder or .gguf (default: where the baseline's run had it)");
  app.add_option("--prompts", v.audit.prompts,
                 "For a redacted baseline, which has none to ask: the prompts as they were given")
      ->each([&v](const std::string&) { v.audit.prompts_given = true; });
  app.add_option("--max-tokens", v.audit.max_tokens, "With --prompts: as it was given");
  app.add_option("--threads", v.audit.threads,
                 "Threads, where its run states none (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--label", v.audit.label, "Deployment label stored with the new run");
  app.add_flag("--fail-on-warn", v.fail_on_warn, "Exit 7 where the verdict is a warning");
  declare_run_caps(app, v.audit.limits.caps);
}

int verify_baseline(const std::string& name, BaselineVerify& v, Session& session) {
  const auto [baseline, base] = load_baseline(name, session);
  v.audit.now = session.flags.now;
  AuditSetup setup = set_up_again(base, v.audit);
  const Policy policy = kept_policy(baseline.policy, "policy of baseline " + name);
  const Date today = gate_day(session.flags.now);
  refuse_expired(policy, today);
  const Verdict early = gate_without_answers(base, unrecorded(base, setup), policy, today);
  if (early.outcome == Outcome::kIncomparable) {
    print(baseline, nullptr, early, session);
    return exit_code(early);
  }
  v.audit.model = setup.model.source;
  v.audit.redact = base.redacted;
  if (!base.redacted) v.audit.against = base.id;  // flips are computed over its tokens once more
  const std::string id = record_run(setup, v.audit, session);
  const RunRecord candidate = load_run(id, session.flags.store);
  const Verdict verdict = gate_runs(base, candidate, policy, today).verdict;
  print(baseline, &candidate, verdict, session);
  if (verdict.outcome == Outcome::kWarn && v.fail_on_warn) return kWarnings;
  return exit_code(verdict);
}

}  // namespace isobit::app

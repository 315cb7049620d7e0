#include "app/upgrade.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/recording.h"
#include "app/run_refs.h"
#include "app/upgrade_findings.h"
#include "base/error.h"
#include "base/file.h"
#include "matrix/plan_file.h"
#include "report/report.h"
#include "store/store.h"

namespace isobit::app {
namespace {

Configuration load_configuration(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  Configuration out = read_configuration(read_file(path, kMostBytes), path);
  if (!out.contract.empty() && out.contract != kNumericContractVersion) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: contract version {} is expected; this isobit has version {}", path,
                            out.contract, kNumericContractVersion),
                "run that arm with the isobit that has it, and gate the two runs");
  }
  return out;
}

AuditArguments audit_arguments(const UpgradeArguments& a, const Configuration& configuration,
                               const Session& session) {
  AuditArguments out;
  out.model = a.model;
  out.prompts = a.prompts;
  out.max_tokens = a.max_tokens;
  out.matrix_file = a.matrix_file;
  out.axes = a.axes;
  out.repeats = a.repeats;
  for (const auto& [axis, value] : configuration.settings) out.sets.push_back(axis + "=" + value);
  out.label = configuration.label;
  out.now = session.flags.now;
  return out;
}

// What the file says of the machine becomes part of what the answers are filed under.
Fingerprint with_declared(Fingerprint fingerprint, const Configuration& configuration) {
  for (const auto& [name, value] : configuration.environment) {
    fingerprint.items.push_back({.item_class = FingerprintClass::kEnvironment,
                                 .name = "declared." + name,
                                 .value = value,
                                 .source = FingerprintSource::kDeclared,
                                 .reason = ""});
  }
  return make_fingerprint(std::move(fingerprint.items));
}

// The latest complete run that would be recorded again, but not `other`: a run compared with itself
// shows nothing. The chat template's clock and the weights are part of the fingerprint.
std::optional<RunRecord> recorded_before(const AuditSetup& setup, const std::string& path,
                                         const std::string& other) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  Store store = Store::open(path, StoreMode::kRead);
  const std::string plan = canonical_json(plan_to_json(setup.plan));
  const auto runs = store.list_runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->status != "complete" || run->fingerprint_id != setup.fingerprint.id ||
        run->id == other)
      continue;
    RunRecord record = store.load_run(run->id);
    if (record.plan_json == plan && record.prompts_digest == setup.prompts.digest &&
        !record.redacted)
      return record;
  }
  return std::nullopt;
}

struct ArmPlan {
  std::string file;
  std::string against;  // run whose tokens flipped answers are computed over once more
};

UpgradeArm run_arm(const ArmPlan& plan, const Configuration& configuration,
                   const UpgradeArguments& a, std::vector<std::string>& token_bytes,
                   Session& session) {
  UpgradeArm arm{.file = plan.file, .configuration = configuration, .run = {}, .reused = false};
  AuditArguments audit = audit_arguments(a, configuration, session);
  audit.against = plan.against;
  AuditSetup setup = set_up_audit(audit);
  tell_of_templates(setup, session.console);
  token_bytes = setup.model.token_bytes;
  setup.fingerprint = with_declared(std::move(setup.fingerprint), configuration);
  if (!a.record_again) {
    if (auto before = recorded_before(setup, session.flags.store, plan.against)) {
      arm.run = std::move(*before);
      arm.reused = true;
      return arm;
    }
  }
  session.console.say("running " + plan.file);
  const std::string id = record_run(setup, audit, session);
  arm.run = load_run(id, session.flags.store);
  return arm;
}

struct Upgraded {
  const UpgradeArm &before, &after;
  const UpgradeFindings& findings;
};

void write_reports(const OutputArguments& outputs, const Upgraded& u, const std::string& model,
                   Session& session) {
  if (!outputs.any()) return;
  OutputArguments with_model = outputs;
  with_model.model = model;
  const ReportInput input = report_input(with_model,
                                         {.base = u.before.run,
                                          .candidate = u.after.run,
                                          .comparison = u.findings.comparison,
                                          .verdict = u.findings.verdict,
                                          .ref = u.after.run.id},
                                         u.after.file, session);
  write_outputs(with_model, input, session);
}

void print(const Upgraded& u, Session& session) {
  if (session.flags.json)
    return session.console.result(json_line(upgrade_json(u.before, u.after, u.findings)) + "\n");
  session.console.result(upgrade_words(u.before, u.after, u.findings));
  session.console.suggest(fmt::format("isobit report {} {} -o report.md{}", u.before.run.id,
                                      u.after.run.id, store_option(session.flags)));
}

}  // namespace

void declare_upgrade_options(CLI::App& app, UpgradeArguments& a) {
  CLI::Option* on = app.add_flag("--upgrade", a.upgrade,
                                 "BASE and CAND are configuration files: run both and compare");
  const auto with_upgrade = [&](CLI::Option* option) { option->needs(on); };
  with_upgrade(app.add_option("--model", a.model, "With --upgrade: checkpoint folder or .gguf"));
  with_upgrade(app.add_option("--prompts", a.prompts,
                              "With --upgrade: smoke, standard, edge, or a JSONL file"));
  with_upgrade(app.add_option("--max-tokens", a.max_tokens,
                              "With --upgrade: output tokens of prompts that do not say"));
  with_upgrade(app.add_option("--matrix", a.matrix_file, "With --upgrade: matrix file"));
  with_upgrade(app.add_option("--axis", a.axes, "With --upgrade: vary an axis in both arms")
                   ->expected(1)
                   ->take_all());
  with_upgrade(app.add_option("--repeats", a.repeats, "With --upgrade: executions of each cell")
                   ->check(CLI::Range(1, 1000)));
  with_upgrade(
      app.add_flag("--record-again", a.record_again, "With --upgrade: reuse no run of the store"));
}

int upgrade(const ConfigurationFiles& files, Level level, const UpgradeArguments& a,
            const UpgradeResults& results, Session& session) {
  const auto& [old_file, new_file] = files;
  check_outputs(results.outputs);
  const Configuration old_configuration = load_configuration(old_file),
                      new_configuration = load_configuration(new_file);
  if (a.model.empty())
    throw Error(ErrorCode::usage, "--upgrade needs --model",
                "give a checkpoint folder or a .gguf file");
  const VerdictKeeper keeper(results.keeping);
  require_recordable(session.flags.store);
  std::vector<std::string> token_bytes;
  const UpgradeArm before =
      run_arm({.file = old_file, .against = ""}, old_configuration, a, token_bytes, session);
  const UpgradeArm after = run_arm({.file = new_file, .against = before.run.id}, new_configuration,
                                   a, token_bytes, session);
  if (after.run.cells.size() == 1)
    session.console.warn(
        "both arms were asked in one cell: nothing is said about load; --axis load.concurrency=1,8 "
        "asks under load too");
  const UpgradeFindings findings = find_upgrade(before, after, level, token_bytes);
  write_reports(results.outputs, {before, after, findings}, a.model, session);
  keeper.keep(before.run, after.run, findings.verdict, session);
  print({before, after, findings}, session);
  return keeper.exit_code_of(findings.verdict);
}

}  // namespace isobit::app

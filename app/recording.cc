#include "app/recording.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "app/clock.h"
#include "app/cores.h"
#include "app/forcing_over_run.h"
#include "app/interruption.h"
#include "app/recording_lock.h"
#include "app/run_refs.h"
#include "app/run_watch.h"
#include "base/digest.h"
#include "base/error.h"
#include "matrix/plan_file.h"
#include "matrix/runner.h"
#include "record/redaction.h"
#include "store/store.h"

namespace isobit::app {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string new_run_id(const RunRecord& header) {
  const auto ns = std::chrono::system_clock::now().time_since_epoch().count();
  return sha256_hex(fmt::format("{} {} {} {} {}", ns, ::getpid(), header.fingerprint.id,
                                header.prompts_digest, header.plan_json))
      .substr(0, 12);
}

void show_progress(const RunProgress& p, Console& console) {
  const double seconds = p.elapsed_ms / 1e3;
  const double rate = seconds > 0 ? static_cast<double>(p.generated_tokens) / seconds : 0;
  const double done =
      static_cast<double>(p.n_cells_done) +
      (p.cell_ended || p.n_cell_samples == 0
           ? 0
           : static_cast<double>(p.n_cell_samples_done) / static_cast<double>(p.n_cell_samples));
  const double eta = done > 0 ? seconds / done * (static_cast<double>(p.n_cells) - done) : 0;
  const std::string name = p.cell ? p.cell->name : "";
  console.progress(static_cast<int64_t>(p.n_cells_done), static_cast<int64_t>(p.n_cells), rate, eta,
                   name);
  if (p.cell_ended) {
    console.progress_line(fmt::format(
        "cell {}/{} {}  {} samples  {:.0f} tokens/s  ETA {}{}", p.n_cells_done, p.n_cells, name,
        p.n_cell_samples_done, p.cell->generated_tokens_per_s, duration_text(eta),
        p.cell->exercised ? "" : "  not exercised: " + p.cell->not_exercised_reason));
  }
}

RunOptions run_options(const AuditSetup& setup, Console& console) {
  RunOptions options;
  options.requests = setup.prompts.requests;
  options.limits = model_limits(setup.model);
  options.neighbour_tokens = neighbour_source(setup.model);
  options.stop = &interrupted();
  options.now_ms = now_ms;
  options.on_progress = [&console](const RunProgress& p) { show_progress(p, console); };
  return options;
}

std::optional<ForcingSource> forcing_source(const AuditArguments& a, const RunRecord& header,
                                            const Session& session) {
  if (a.against.empty()) return std::nullopt;
  const RunRecord base = load_run(a.against, session.flags.store);
  require_not_redacted(base, "--against");
  return forcing_over_run(base, header);
}

void tell_of_outcome(const RunOutcome& outcome, const RunWatch& watch, Session& session) {
  if (outcome.n_changed_on_rerun > 0) {
    session.console.warn(
        fmt::format("{} samples that an interrupted session had recorded gave another answer when "
                    "their cell ran again",
                    outcome.n_changed_on_rerun));
  }
  if (outcome.stop_reason.empty()) return;
  session.console.say(printable(fmt::format("stopped by {}; isobit run --resume{} continues",
                                            outcome.stop_reason, store_option(session.flags))));
  if (!watch.anything_new() && !outcome.stop_reason.starts_with("--fail-fast"))
    session.console.warn(
        "nothing new was recorded: a cell that was cut short runs again as a whole, and the limit "
        "is below what that takes");
}

// Runs what is left of the plan into an open store and closes it. `stored`: the run as the store
// has it by now.
// A file that was removed takes what is written to it without a word.
void require_still_there(const std::string& store) {
  std::error_code missing;
  if (std::filesystem::exists(store, missing)) return;
  throw Error(ErrorCode::environment,
              "the store '" + store + "' was removed while it was recorded to, and the run with it",
              "record it again to a file that stays");
}

void run_into(Store& store, const RunRecord& stored, AuditSetup& setup, RunOptions& options,
              const AuditArguments& a, Session& session) {
  watch_for_interruption();
  const auto recorder = store.recorder(stored.id);
  RunWatch watch(*recorder, stored, a.limits, now_ms);
  std::optional<RedactingSink> redacting;
  if (stored.redacted) redacting.emplace(watch, setup.prompts.requests);
  options.stop_reason = [&watch] { return watch.stop_reason(); };
  RunSink& sink = redacting ? static_cast<RunSink&>(*redacting) : watch;
  const RunOutcome outcome = run_plan(setup.plan, *setup.target, sink, options);
  const bool stopped = outcome.interrupted || !outcome.stop_reason.empty();
  if (!stopped && outcome.n_incomplete == 0) store.finish_run(stored.id);
  if (stopped)
    store.note_stop(stored.id, outcome.interrupted ? "interrupted" : outcome.stop_reason);
  store.close();
  require_still_there(session.flags.store);
  tell_of_outcome(outcome, watch, session);
  if (outcome.interrupted)
    throw_interruption(fmt::format("what was recorded is kept; isobit run --resume{} continues",
                                   store_option(session.flags)));
}

std::string model_of(const RunRecord& run, const AuditArguments& a) {
  if (!a.model.empty()) return a.model;
  if (run.target.starts_with(kTargetPrefix))
    return run.target.substr(std::string(kTargetPrefix).size());
  throw Error(ErrorCode::usage,
              "run " + run.id + " was recorded from '" + run.target + "', which is no checkpoint",
              "give MODEL");
}

// The prompts of a redacted run, given once more.
PromptRequests prompts_again(const RunRecord& run, const AuditSetup& setup,
                             const AuditArguments& a) {
  PromptRequests out = load_prompt_requests(a.prompts, setup.model.text,
                                            {.max_tokens = a.max_tokens, .n_top = a.n_top});
  if (out.digest != run.prompts_digest) {
    throw Error(ErrorCode::usage,
                "run " + run.id + " is redacted, so its prompts have to be given again; " +
                    (a.prompts_given ? "'" + a.prompts + "' with these parameters is not them"
                                     : "none were"),
                "give the same --prompts and --max-tokens as then");
  }
  for (size_t i = 0; i < out.requests.size(); ++i) out.requests[i].n_top = run.requests[i].n_top;
  return out;
}

// What a configuration file declared when the run began stays declared.
Fingerprint with_declared_of(const RunRecord& run, Fingerprint here) {
  for (const FingerprintItem& item : run.fingerprint.items) {
    if (item.source == FingerprintSource::kDeclared &&
        item.item_class == FingerprintClass::kEnvironment)
      here.items.push_back(item);
  }
  return make_fingerprint(std::move(here.items));
}

void require_same_fingerprint(const RunRecord& run, const AuditSetup& setup) {
  if (setup.fingerprint.id == run.fingerprint.id) return;
  throw Error(ErrorCode::incomparable,
              "run " + run.id + " was started with fingerprint " +
                  run.fingerprint.id.substr(0, 12) + "; here it is " +
                  setup.fingerprint.id.substr(0, 12),
              "isobit fingerprint diff shows what changed; start a new run");
}

std::string incomplete_run(Store& store, const std::string& ref, const std::string& path) {
  if (!ref.empty()) return store.resolve_ref(ref);
  std::string id;
  for (const RunSummary& run : store.list_runs()) {
    if (run.status != "complete") id = run.id;
  }
  if (id.empty()) throw Error(ErrorCode::usage, "'" + path + "' holds no incomplete run to resume");
  return id;
}

// The plan with other threads, under the cells' own names: versions have named them differently.
Plan with_threads(Plan plan, int n_threads) {
  PlanSpec spec = plan.spec;
  set_threads(spec, n_threads);
  for (const CellNaming naming : {CellNaming::kBesideReference, CellNaming::kBesideDefaults}) {
    Plan out = make_plan(spec, naming);
    if (std::ranges::equal(out.cells, plan.cells, {}, &CellRecord::name, &CellRecord::name))
      return out;
  }
  return plan;
}

}  // namespace

AuditSetup set_up_again(const RunRecord& run, const AuditArguments& a) {
  if (a.prompts_given && !run.redacted) {
    throw Error(ErrorCode::usage, "run " + run.id + " has its own prompts",
                "leave --prompts, --max-tokens and --top out");
  }
  AuditSetup setup;
  setup.model = load_model(model_of(run, a),
                           now_or_pinned(a.now.empty() ? recorded_clock(run.fingerprint) : a.now));
  setup.plan = with_threads(plan_from_json(run.plan_json, "run " + run.id), a.threads);
  if (run.redacted) {
    setup.prompts = prompts_again(run, setup, a);
  } else {
    setup.prompts = {.requests = run.requests,
                     .texts = run.prompt_texts,
                     .digest = run.prompts_digest,
                     .clock_was_read = false};
  }
  setup.target = make_target(setup.model, threads_of(a));
  setup.fingerprint =
      with_declared_of(run, audit_fingerprint(setup.model, setup.plan, threads_of(a)));
  return setup;
}

std::string record_run(AuditSetup& setup, const AuditArguments& a, Session& session) {
  RunOptions options = run_options(setup, session.console);
  estimate_plan(setup.plan, options.requests, options.limits,
                options.neighbour_tokens);  // an impossible cell stops here, before a store exists
  warn_of_threads(most_threads(setup.plan, threads_of(a)), session.console);
  RunRecord header;
  header.created = utc_now();
  header.target = kTargetPrefix + a.model;
  header.label = a.label;
  header.plan_json = canonical_json(plan_to_json(setup.plan));
  header.prompts_digest = setup.prompts.digest;
  header.status = "running";
  header.fingerprint = setup.fingerprint;
  header.requests = setup.prompts.requests;
  header.prompt_texts = setup.prompts.texts;
  header.cells = setup.plan.cells;
  header.id = new_run_id(header);
  options.against = forcing_source(a, header, session);
  if (a.redact) header = redact(header);
  std::optional<RecordingLock> lock;  // before the store, so that it goes after it
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  lock.emplace(session.flags.store);
  store.create_run(header);
  run_into(store, header, setup, options, a, session);
  return header.id;
}

std::string resume_run(const std::string& ref, const AuditArguments& a, Session& session) {
  std::optional<RecordingLock> lock;  // before the store, so that it goes after it
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  lock.emplace(session.flags.store);
  const RunRecord run = store.load_run(incomplete_run(store, ref, session.flags.store));
  if (run.status == "complete") return run.id;
  AuditSetup setup = set_up_again(run, a);
  warn_of_threads(most_threads(setup.plan, threads_of(a)), session.console);
  require_same_fingerprint(run, setup);
  RunOptions options = run_options(setup, session.console);
  for (const CellRecord& cell : run.cells) {
    if (cell.complete) options.done_cells.insert(cell.index);
  }
  std::vector<SampleRecord> recorded = run.samples;
  if (run.redacted) {
    const auto n_ids = static_cast<int32_t>(setup.model.token_bytes.size());
    recorded = Redactor(setup.prompts.requests).revealed(recorded, n_ids);
  }
  options.recorded = recorded;
  options.recorded_forced = run.forced;
  options.against = forcing_source(a, run, session);
  session.console.say(fmt::format("resuming run {}: {} of {} cells are done", run.id,
                                  options.done_cells.size(), run.cells.size()));
  run_into(store, run, setup, options, a, session);
  return run.id;
}

}  // namespace isobit::app

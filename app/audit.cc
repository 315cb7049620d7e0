#include "app/audit.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "app/clock.h"
#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/forcing_over_run.h"
#include "app/interruption.h"
#include "app/recording_lock.h"
#include "app/run_refs.h"
#include "app/text_probes.h"
#include "app/word_lists.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "kernels/registry.h"
#include "matrix/axes.h"
#include "matrix/plan_file.h"
#include "matrix/runner.h"
#include "store/store.h"

namespace isobit::app {
namespace {

constexpr int64_t kMaxBatchTokens = 2048;

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

int threads_of(const AuditArguments& arguments) {
  return arguments.threads ? arguments.threads : n_cores();
}

// The distinct values of an axis over the plan's cells: "cpu", or "cpu,cpu-adaptive".
std::vector<std::string> values_in_plan(const Plan& plan, const char* axis) {
  std::set<std::string> values;
  for (const CellRecord& cell : plan.cells) values.insert(axis_value(cell, axis));
  return {values.begin(), values.end()};
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

// The most that any cell asks for.
int most_threads(const Plan& plan, int by_default) {
  int most = by_default;
  for (const std::string& value : values_in_plan(plan, "engine.threads")) {
    if (value != "all") most = std::max(most, std::stoi(value));
  }
  return most;
}

// What "best" became, per kernel set; a set that cannot run here stops the run before anything is
// computed.
std::string resolved_isa(const Plan& plan) {
  std::set<std::string> out;
  for (const std::string& set : values_in_plan(plan, "engine.kernel_set")) {
    for (const std::string& isa : values_in_plan(plan, "engine.isa"))
      out.insert(kernel_set(set, isa == "best" ? "" : isa).isa);
  }
  return joined({out.begin(), out.end()});
}

SchedulerInputs scheduler_inputs(const Plan& plan) {
  SchedulerInputs out;
  int64_t most = 1;
  for (const std::string& value : values_in_plan(plan, "load.concurrency")) {
    most = std::max<int64_t>(most, value == "peak" ? kMaxConcurrency : std::atoll(value.c_str()));
  }
  out.max_batch_requests = most;
  out.max_batch_tokens = kMaxBatchTokens;
  return out;
}

std::map<std::string, std::string> allowed_variables() {
  std::map<std::string, std::string> out;
  for (const std::string_view name : allowed_environment()) {
    if (const char* value = std::getenv(std::string(name).c_str())) out.emplace(name, value);
  }
  return out;
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
    console.progress_line(
        fmt::format("cell {}/{} {}  {} samples  {:.0f} tokens/s  ETA {:.0f} s{}", p.n_cells_done,
                    p.n_cells, name, p.n_cell_samples_done, p.cell->generated_tokens_per_s, eta,
                    p.cell->exercised ? "" : "  not exercised: " + p.cell->not_exercised_reason));
  }
}

RunOptions run_options(const AuditSetup& setup, std::span<const Request> requests,
                       Console& console) {
  RunOptions options;
  options.requests = requests;
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
  return forcing_over_run(load_run(a.against, session.flags.store), header);
}

// Runs what is left of the plan into an open store and closes it.
void run_into(Store& store, const std::string& run_id, AuditSetup& setup, const RunOptions& options,
              Session& session) {
  watch_for_interruption();
  const auto sink = store.recorder(run_id);
  const RunOutcome outcome = run_plan(setup.plan, *setup.target, *sink, options);
  if (outcome.n_changed_on_rerun > 0) {
    session.console.warn(
        fmt::format("{} samples that an interrupted session had recorded gave another answer when "
                    "their cell ran again",
                    outcome.n_changed_on_rerun));
  }
  if (!outcome.interrupted && outcome.n_incomplete == 0) store.finish_run(run_id);
  store.close();
  if (outcome.interrupted)
    throw_interruption(fmt::format("what was recorded is kept; isobit run --resume{} continues",
                                   store_option(session.flags)));
}

}  // namespace

std::unique_ptr<BuiltinTarget> make_target(const LoadedModel& model, int n_threads) {
  BuiltinDefaults defaults;
  defaults.n_threads = n_threads;
  defaults.max_batch_tokens = kMaxBatchTokens;
  return std::make_unique<BuiltinTarget>(*model.checkpoint, model.token_bytes, defaults);
}

ModelLimits model_limits(const LoadedModel& model) {
  return {.context_tokens = static_cast<int32_t>(model.checkpoint->config().max_positions),
          .max_concurrency = kMaxConcurrency};
}

NeighbourTokens neighbour_source(const LoadedModel& model) {
  return [tokenizer = model.text.tokenizer.get()](int32_t n, uint64_t seed) {
    return neighbour_tokens(*tokenizer, n, seed);
  };
}

void declare_audit_options(CLI::App& app, AuditArguments& a) {
  app.add_option("MODEL", a.model, "Checkpoint folder or .gguf");
  app.add_option("--prompts", a.prompts, "smoke, standard, edge, or a JSONL file (default: smoke)");
  app.add_option("--max-tokens", a.max_tokens,
                 "Output tokens of prompts that do not say (default: 16)");
  app.add_option("--top", a.n_top, "Alternatives recorded per position (default: 5)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--matrix", a.matrix_file, "Matrix file (JSON with comments)");
  app.add_option("--axis", a.axes, "Vary an axis: load.concurrency=1,8,32 (repeatable)")
      ->expected(1)
      ->take_all();
  app.add_option("--set", a.sets, "Fix an axis for all cells: engine.kernel_set=cpu (repeatable)")
      ->expected(1)
      ->take_all();
  app.add_option("--design", a.design, "one-at-a-time (default) or grid");
  app.add_option("--repeats", a.repeats, "Executions of each cell")->check(CLI::Range(1, 1000));
  app.add_option("--seed", a.seed,
                 "Seed of the order of cells, permutations and neighbours (default: 0)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--no-teacher-forcing", a.no_teacher_forcing,
               "Do not compute flipped answers once more over their reference's tokens");
  app.add_flag("--embeddings", a.embeddings,
               "Record each answer's mean hidden state, for semantic agreement");
  app.add_option("--against", a.against,
                 "Hold answers to those of this run too: flipped ones are computed once more over "
                 "its tokens");
  app.add_option("--threads", a.threads, "Threads (default: all cores)")
      ->check(CLI::Range(1, kMostThreads));
  app.add_option("--label", a.label, "Deployment label stored with the run");
}

PlanSpec plan_spec(const AuditArguments& a) {
  PlanSpec spec;
  if (!a.matrix_file.empty()) spec = read_matrix(read_file(a.matrix_file), a.matrix_file);
  apply_axis_flags(spec, a.axes, a.sets);
  if (!a.design.empty()) spec.design = design_from_name(a.design);
  if (a.repeats) spec.repeats = a.repeats;
  if (a.seed) spec.seed = *a.seed;
  if (a.no_teacher_forcing) spec.teacher_forcing = false;
  if (a.embeddings) spec.embeddings = true;
  return spec;
}

Fingerprint audit_fingerprint(const LoadedModel& model, const Plan& plan, int n_threads,
                              CanonicalRoot canonical_root) {
  ThreadPool pool(n_threads);
  FingerprintInputs inputs;
  inputs.checkpoint = model.checkpoint.get();
  inputs.canonical_root = canonical_root;
  inputs.pool = &pool;
  inputs.text = text_fingerprint_inputs(model.text);
  inputs.numerics = NumericsInputs{.kernel_set = joined(values_in_plan(plan, "engine.kernel_set")),
                                   .isa = resolved_isa(plan),
                                   .kv_dtype = joined(values_in_plan(plan, "engine.kv_dtype"))};
  inputs.scheduler = scheduler_inputs(plan);
  inputs.sqlite_version = sqlite_version();
  inputs.environment = allowed_variables();
  return compute_fingerprint(inputs);
}

AuditSetup set_up_audit(const AuditArguments& a) {
  if (a.model.empty())
    throw Error(ErrorCode::usage, "MODEL is missing", "give a checkpoint folder or a .gguf file");
  if (a.max_tokens < 1) throw Error(ErrorCode::usage, "--max-tokens must be at least 1");
  const int n_threads = threads_of(a);
  AuditSetup setup;
  setup.plan = make_plan(plan_spec(a));
  resolved_isa(setup.plan);  // before the model is read
  setup.model = load_model(a.model, now_or_pinned(a.now));
  setup.prompts = load_prompt_requests(a.prompts, setup.model.text,
                                       {.max_tokens = a.max_tokens, .n_top = a.n_top});
  setup.target = make_target(setup.model, n_threads);
  setup.fingerprint = audit_fingerprint(setup.model, setup.plan, n_threads);
  return setup;
}

void tell_of_templates(const AuditSetup& setup, Console& console) {
  const ChatRenderer& chat = setup.model.text.chat;
  for (const std::string& conflict : chat.conflicts()) console.warn(conflict);
  if (setup.prompts.clock_was_read) console.say(clock_notice(chat.now()));
}

std::string recorded_clock(const Fingerprint& fingerprint) {
  for (const FingerprintItem& item : fingerprint.items) {
    if (item.item_class == FingerprintClass::kText && item.name == "template_clock")
      return item.value;
  }
  return {};
}

void require_recordable(const std::string& store) {
  namespace fs = std::filesystem;
  std::error_code
      ignored;  // what cannot be looked at here fails, with its reason, when the store is opened
  if (fs::is_regular_file(store, ignored) && fs::file_size(store, ignored) > 0) {
    Store::open(store, StoreMode::kRead);
    return;
  }
  const fs::path folder = fs::absolute(store).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::environment,
                "cannot create the store '" + store + "': " + std::strerror(errno));
  }
}

std::string record_run(AuditSetup& setup, const AuditArguments& a, Session& session) {
  RunOptions options = run_options(setup, setup.prompts.requests, session.console);
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
  std::optional<RecordingLock> lock;  // before the store, so that it goes after it
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  lock.emplace(session.flags.store);
  store.create_run(header);
  run_into(store, header.id, setup, options, session);
  return header.id;
}

std::string resume_run(const std::string& ref, const AuditArguments& a, Session& session) {
  std::optional<RecordingLock> lock;  // before the store, so that it goes after it
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  lock.emplace(session.flags.store);
  std::string id = ref;
  if (ref.empty()) {
    for (const RunSummary& run : store.list_runs()) {
      if (run.status != "complete") id = run.id;
    }
    if (id.empty())
      throw Error(ErrorCode::usage,
                  "'" + session.flags.store + "' holds no incomplete run to resume");
  }
  const RunRecord run = store.load_run(store.resolve_ref(id));
  if (run.status == "complete") return run.id;
  const std::string model = !a.model.empty() ? a.model
                            : run.target.starts_with(kTargetPrefix)
                                ? run.target.substr(std::string(kTargetPrefix).size())
                                : "";
  AuditSetup setup;
  setup.model =
      load_model(model, now_or_pinned(a.now.empty() ? recorded_clock(run.fingerprint) : a.now));
  setup.plan = plan_from_json(run.plan_json, "run " + run.id);
  setup.target = make_target(setup.model, threads_of(a));
  warn_of_threads(most_threads(setup.plan, threads_of(a)), session.console);
  setup.fingerprint = audit_fingerprint(setup.model, setup.plan, threads_of(a));
  if (setup.fingerprint.id != run.fingerprint.id) {
    throw Error(ErrorCode::incomparable,
                "run " + run.id + " was started with fingerprint " +
                    run.fingerprint.id.substr(0, 12) + "; here it is " +
                    setup.fingerprint.id.substr(0, 12),
                "isobit fingerprint diff shows what changed; start a new run");
  }
  RunOptions options = run_options(setup, run.requests, session.console);
  for (const CellRecord& cell : run.cells) {
    if (cell.complete) options.done_cells.insert(cell.index);
  }
  options.recorded = run.samples;
  options.recorded_forced = run.forced;
  options.against = forcing_source(a, run, session);
  session.console.say(fmt::format("resuming run {}: {} of {} cells are done", run.id,
                                  options.done_cells.size(), run.cells.size()));
  run_into(store, run.id, setup, options, session);
  return run.id;
}

RunJudgement judge_run(const std::string& run_id, Level level, Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRead);
  RunJudgement out{.run = store.load_run(run_id), .comparison = {}, .verdict = {}};
  out.comparison = compare_within_run(out.run);
  out.verdict = check_run(out.comparison, level);
  return out;
}

int exit_code(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kPass:
    case Outcome::kWarn:
      return kOk;
    case Outcome::kFail:
      return kDiverged;
    case Outcome::kInconclusive:
      return kInconclusive;
    case Outcome::kIncomparable:
      return kIncomparable;
    case Outcome::kUnsupported:
      return kUnsupported;
    case Outcome::kIncomplete:
      return kIncomplete;
  }
  return kInternal;
}

Level level_argument(int number) {
  if (const auto level = level_from_number(number)) return *level;
  throw Error(ErrorCode::usage, "level " + std::to_string(number) + " does not exist",
              "0: within the noise; 1: same tokens; 2: same bits");
}

}  // namespace isobit::app

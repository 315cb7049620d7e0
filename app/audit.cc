#include "app/audit.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/number_checks.h"
#include "app/text_probes.h"
#include "app/word_lists.h"
#include "base/error.h"
#include "base/file.h"
#include "kernels/registry.h"
#include "matrix/axes.h"
#include "matrix/plan_file.h"
#include "store/store.h"

namespace isobit::app {
namespace {

constexpr int64_t kMaxBatchTokens = 2048;
constexpr const char* kThreadsAxis = "engine.threads";

// The distinct values of an axis over the plan's cells: "cpu", or "cpu,cpu-adaptive".
std::vector<std::string> values_in_plan(const Plan& plan, const char* axis) {
  std::set<std::string> values;
  for (const CellRecord& cell : plan.cells) values.insert(axis_value(cell, axis));
  return {values.begin(), values.end()};
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
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

}  // namespace

void set_threads(PlanSpec& spec, int n_threads) {
  const bool stated =
      spec.reference.contains(kThreadsAxis) ||
      std::ranges::find(spec.axes, kThreadsAxis, &VariedAxis::key) != spec.axes.end();
  if (n_threads != 0 && !stated) spec.reference[kThreadsAxis] = std::to_string(n_threads);
}

int threads_of(const AuditArguments& arguments) {
  return arguments.threads ? arguments.threads : n_cores();
}

int most_threads(const Plan& plan, int by_default) {
  int most = by_default;
  for (const std::string& value : values_in_plan(plan, kThreadsAxis)) {
    if (value != "all") most = std::max(most, std::stoi(value));
  }
  return most;
}

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
      ->check(not_negative);
  app.add_flag("--no-teacher-forcing", a.no_teacher_forcing,
               "Do not compute flipped answers once more over their reference's tokens");
  app.add_flag("--embeddings", a.embeddings,
               "Record each answer's mean hidden state, for semantic agreement");
  app.add_option("--against", a.against,
                 "Hold answers to those of this run too: flipped ones are computed once more over "
                 "its tokens");
  app.add_option("--threads", a.threads,
                 "Threads (default: all cores); the same as --set engine.threads=N")
      ->check(CLI::Range(1, kMostThreads));
  app.add_option("--label", a.label, "Deployment label stored with the run");
}

PlanSpec plan_spec(const AuditArguments& a) {
  PlanSpec spec;
  if (!a.matrix_file.empty()) spec = read_matrix(read_file(a.matrix_file), a.matrix_file);
  apply_axis_flags(spec, a.axes, a.sets);
  set_threads(spec, a.threads);
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
  std::error_code failed;
  const fs::path folder = fs::absolute(store, failed).parent_path();
  if (failed || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::environment, "cannot create the store '" + store + "': " +
                                            (failed ? failed.message() : std::strerror(errno)));
  }
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

// The main job: a model, prompts and a matrix in; a stored run, its comparison and a verdict out.
// Used by `run`, `plan` and `demo`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/loaded_model.h"
#include "app/prompt_requests.h"
#include "app/run_watch.h"
#include "compare/run_comparison.h"
#include "gate/verdict.h"
#include "matrix/plan.h"
#include "matrix/workload.h"
#include "record/run_record.h"
#include "targets/builtin_target.h"

namespace isobit::app {

// The most requests in flight: load.concurrency=peak, and the largest value accepted.
inline constexpr int32_t kMaxConcurrency = 512;

struct AuditArguments {
  std::string model;
  std::string prompts = "smoke";
  int32_t max_tokens = 16;
  int32_t n_top = 5;
  std::string matrix_file;
  std::vector<std::string> axes;  // "key=v1,v2"
  std::vector<std::string> sets;  // "key=v"
  std::string design;
  int32_t repeats = 0;  // 0: what the matrix file says, else 1
  std::optional<uint64_t> seed;
  bool no_teacher_forcing = false;
  bool embeddings = false;
  std::string against;         // a run whose answers this one's are held to as well
  int threads = 0;             // 0: all cores
  bool redact = false;         // keep only digests of prompts and outputs
  bool prompts_given = false;  // --prompts, --max-tokens or --top stand on the command line
  RunLimits limits;
  std::string label;
  std::string now;  // what a chat template's clock says; empty: kPinnedNow, or what a run recorded
};

// What comes before the model's path in RunRecord::target.
inline constexpr const char* kTargetPrefix = "isobit:";

// The options that `run` and `plan` share.
void declare_audit_options(CLI::App& app, AuditArguments& arguments);

PlanSpec plan_spec(const AuditArguments& arguments);
// What --threads says becomes the setting engine.threads of all cells, so that it is recorded;
// where the axis is set or varied by itself, that stays.
void set_threads(PlanSpec& spec, int n_threads);
int threads_of(const AuditArguments& arguments);
// The most that any cell asks for.
int most_threads(const Plan& plan, int by_default);
std::unique_ptr<BuiltinTarget> make_target(const LoadedModel& model, int n_threads);

// A loaded model with its target and prompts, ready to run a plan.
struct AuditSetup {
  LoadedModel model;
  PromptRequests prompts;
  Plan plan;
  std::unique_ptr<BuiltinTarget> target;
  Fingerprint fingerprint;
};

AuditSetup set_up_audit(const AuditArguments& arguments);
// Says once what a reader of the results should know of the prompts: the clock in them, and chat
// templates that contradict each other.
void tell_of_templates(const AuditSetup& setup, Console& console);
// The time that a fingerprint records for templates that read the clock; empty when none did.
std::string recorded_clock(const Fingerprint& fingerprint);
Fingerprint audit_fingerprint(const LoadedModel& model, const Plan& plan, int n_threads,
                              CanonicalRoot canonical_root = CanonicalRoot::skip);

// The engine over a loaded model as runs use it, what it can take, and its neighbours' text.
// `model` must outlive what is returned.
std::unique_ptr<BuiltinTarget> make_target(const LoadedModel& model, int n_threads);
ModelLimits model_limits(const LoadedModel& model);
NeighbourTokens neighbour_source(const LoadedModel& model);

// Throws Error(environment) when `store` is no store or cannot be created, before a model is loaded
// for it.
void require_recordable(const std::string& store);

struct RunJudgement {
  RunRecord run;
  RunComparison comparison;
  Verdict verdict;
};
RunJudgement judge_run(const std::string& run_id, Level level, Session& session);

int exit_code(const Verdict& verdict);

// 2 -> Level; throws Error(usage).
Level level_argument(int number);

}  // namespace isobit::app

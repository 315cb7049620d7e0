#include "app/baseline_runs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/policy_argument.h"
#include "app/run_claims.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "base/file.h"
#include "record/run_json.h"

namespace isobit::app {
namespace {

// Does the store hold a run of this id? Then it must be the same one, as far as it got.
bool is_there(Store& store, const RunRecord& run) {
  const auto runs = store.list_runs();
  const auto known = std::ranges::find(runs, run.id, &RunSummary::id);
  if (known == runs.end()) return false;
  const RunRecord stored = store.load_run(run.id);
  const Json have = run_sections(stored), want = run_sections(run);
  const bool same_question =
      have["requests"] == want["requests"] && have["fingerprint"] == want["fingerprint"];
  const bool complete = stored.status == "complete";
  if (same_question && (!complete || have == want)) return complete;
  throw Error(ErrorCode::usage, "the store has another run " + run.id,
              "import into another store with --store");
}

void store_run(Store& store, const RunRecord& run) {
  const auto runs = store.list_runs();
  if (std::ranges::find(runs, run.id, &RunSummary::id) == runs.end()) store.create_run(run);
  const auto sink = store.recorder(run.id);
  for (const SampleRecord& sample : run.samples) {
    if (sink->sample(sample) == Landing::kAlreadyDifferent)
      throw Error(ErrorCode::usage, "the store has another answer in run " + run.id,
                  "import into another store with --store");
  }
  for (const ForcedRecord& forced : run.forced) sink->forced(forced);
  for (const CellRecord& cell : run.cells) sink->end_cell(cell);
  store.finish_run(run.id);
}

}  // namespace

BaselineFile load_baseline_file(const std::string& path) {
  BaselineFile file = read_baseline_file(read_file(path), path);
  require_whole_run(file.run, "baseline '" + path + "'");
  return file;
}

bool is_baseline_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(64, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  return begins_as_baseline_file(begin);
}

std::optional<KeptPolicy> policy_of_baseline(const std::string& text,
                                             const std::string& default_store) {
  if (is_baseline_file(text)) {
    const std::string policy = load_baseline_file(text).policy;
    if (policy.empty()) return std::nullopt;
    return KeptPolicy{.text = policy, .where = "the policy in " + text};
  }
  const RunRef ref = parse_run_ref(text, default_store);
  if (!ref.run.starts_with('@')) return std::nullopt;
  const Baseline baseline =
      Store::open(ref.store, StoreMode::kRead).find_baseline(std::string_view(ref.run).substr(1));
  if (baseline.policy.empty()) return std::nullopt;
  return KeptPolicy{.text = baseline.policy,
                    .where = "the policy of baseline " + baseline.name + " version " +
                             std::to_string(baseline.version)};
}

ImportedBaseline import_baseline(Store& store, const BaselineFile& file, const std::string& name) {
  if (file.run.status != "complete")
    throw Error(ErrorCode::incomplete, "the run of the baseline is not complete");
  if (!file.policy.empty()) kept_policy(file.policy, "the policy of baseline " + name);
  ImportedBaseline out;
  out.run_was_there = is_there(store, file.run);
  if (!out.run_was_there) store_run(store, file.run);
  const auto all = store.list_baselines();
  for (const Baseline& known : all) {
    if (known.name == name) out.baseline = known;  // the last one is in force
  }
  out.baseline_was_there = out.baseline.run_id == file.run.id && out.baseline.policy == file.policy;
  if (!out.baseline_was_there) {
    out.baseline = store.add_baseline({.name = name,
                                       .run_id = file.run.id,
                                       .created = file.created,
                                       .policy = file.policy,
                                       .note = file.note});
  }
  return out;
}

}  // namespace isobit::app

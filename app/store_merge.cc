#include "app/store_merge.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/baseline_runs.h"
#include "app/bundle_file.h"
#include "app/exit_codes.h"
#include "app/policy_argument.h"
#include "app/recording_lock.h"
#include "app/run_claims.h"
#include "app/run_refs.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"
#include "report/untrusted_text.h"
#include "store/store.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

// Of a store that was made for what could not come in; not where another process records meanwhile.
void remove_unused(const std::string& path) {
  try {
    const RecordingLock nobody_records(path);
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path + suffix, ignored);
  } catch (const Error&) {
    // It is gone already, or in use.
  }
}

// All of it or nothing: to open a store for recording changes its bytes already, so conflicts are
// looked for before that.
MergeResult merge_into(const std::string& path, const MergeSource& source) {
  const bool is_new = !fs::exists(path);
  std::error_code ignored;
  if (!is_new && fs::file_size(path, ignored) > 0 && !ignored) {
    MergeResult refused;
    refused.conflicts = Store::open(path, StoreMode::kRead).merge_conflicts(source);
    if (!refused.conflicts.empty()) return refused;
  }
  try {
    std::optional<RecordingLock> lock;  // before the store, so that it goes after it
    Store store = Store::open(path, StoreMode::kRecord);
    lock.emplace(path);
    MergeResult result = store.merge(source);
    store.close();
    return result;
  } catch (const Error&) {
    if (is_new) remove_unused(path);
    throw;
  }
}

// Where a store or a bundle has a run: two runs may have been created in the same second.
size_t place_of(const std::string& ref, const std::string& id, const std::string& default_store) {
  const std::string source = parse_run_ref(ref, default_store).store;
  std::vector<std::string> ids;
  if (is_bundle_file(source)) {
    for (const RunRecord& run : load_bundle(source).runs) ids.push_back(run.id);
  } else if (!is_baseline_file(source)) {
    for (const RunSummary& run : Store::open(source, StoreMode::kRead).list_runs())
      ids.push_back(run.id);
  }
  return static_cast<size_t>(std::ranges::find(ids, id) - ids.begin());
}

std::vector<RunRecord> in_order_of_their_stores(const std::vector<std::string>& refs,
                                                const std::string& default_store) {
  std::vector<std::pair<size_t, RunRecord>> placed;
  for (const std::string& ref : refs) {
    RunRecord run = load_run(ref, default_store);
    placed.emplace_back(place_of(ref, run.id, default_store), std::move(run));
  }
  std::ranges::stable_sort(placed, {}, &std::pair<size_t, RunRecord>::first);
  std::vector<RunRecord> out;
  for (auto& [place, run] : placed) out.push_back(std::move(run));
  return out;
}

Json result_json(const MergeResult& r, const std::string& from, const std::string& into) {
  Json conflicts = Json::array();
  for (const MergeConflict& c : r.conflicts) {
    conflicts.push_back({{"subject", json_text(c.subject)},
                         {"differs_in", json_text(c.differs_in)},
                         {"here", json_text(c.here)},
                         {"there", json_text(c.there)}});
  }
  return {{"from", json_text(from)},
          {"store", json_text(into)},
          {"runs_added", r.n_runs_added},
          {"runs_continued", r.n_runs_continued},
          {"runs_there", r.n_runs_there},
          {"samples_added", r.n_samples_added},
          {"baselines_added", r.n_baselines_added},
          {"comparisons_added", r.n_comparisons_added},
          {"conflicts", std::move(conflicts)}};
}

std::string conflicts_text(const MergeResult& r, const std::string& from, const std::string& into) {
  std::string out;
  for (const MergeConflict& c : r.conflicts) {
    out += fmt::format("{} is not the same on both sides: {}\n  {}: {}\n  {}: {}\n",
                       printable(c.subject), printable(c.differs_in), printable(into),
                       printable(c.here), printable(from), printable(c.there));
  }
  return out;
}

std::string result_text(const MergeResult& r, const std::string& from, const std::string& into) {
  return fmt::format(
      "{} into {}\n  {} runs added, {} continued, {} there already\n"
      "  {} answers, {} baseline versions, {} saved verdicts are new\n",
      printable(from), printable(into), r.n_runs_added, r.n_runs_continued, r.n_runs_there,
      r.n_samples_added, r.n_baselines_added, r.n_comparisons_added);
}

int report(const MergeResult& r, const std::string& from, const std::string& into, const Json& more,
           Session& session) {
  if (session.flags.json) {
    Json json = result_json(r, from, into);
    json.update(more);
    session.console.result(json_line(json));
  } else if (r.conflicts.empty()) {
    session.console.result(result_text(r, from, into));
  } else {
    session.console.result(conflicts_text(r, from, into));
  }
  if (r.conflicts.empty()) return kOk;
  session.console.warn(
      "nothing was changed: take one side into another store with --store, or "
      "remove the wrong one with isobit store prune --runs");
  return kUsage;
}

}  // namespace

StoreExchange::StoreExchange(CLI::App& store_app)
    : export_(store_app.add_subcommand("export", "Write runs as one file to carry")),
      import_(store_app.add_subcommand("import", "Take the runs of such a file into the store")),
      merge_(store_app.add_subcommand("merge", "Take in all that another store holds")) {
  export_->add_option("RUN", runs_, "Runs: latest, latest~1, an id, file.db:latest")->required();
  export_->add_option("-o,--output", output_, "File to write: NAME.isobit.tar")
      ->required()
      ->check(not_empty);
  export_->add_option("--policy", policy_, "Policy to carry along: a file or level-1")
      ->check(not_empty);
  import_->add_option("FILE", input_, "What store export wrote")->required();
  merge_->add_option("OTHER", input_, "The other store")->required();
  merge_->add_option("--into", into_, "The store that takes it in (default: --store)")
      ->check(not_empty);
  for (CLI::App* sub : {export_, import_, merge_}) sub->fallthrough();
  export_->footer("Example:\n  isobit store export latest -o latest.isobit.tar");
  import_->footer("Example:\n  isobit store import latest.isobit.tar --store other.db");
  merge_->footer("Example:\n  isobit store merge other.db --into isobit.db");
}

std::optional<int> StoreExchange::run(Session& session) const {
  if (export_->parsed()) return export_runs(session);
  if (import_->parsed()) return import_bundle(session);
  if (merge_->parsed()) return merge_store(session);
  return std::nullopt;
}

int StoreExchange::export_runs(Session& session) const {
  RunBundle bundle;
  if (!policy_.empty()) bundle.policy = policy_text(policy_);
  Json runs = Json::array();
  bundle.runs = in_order_of_their_stores(runs_, session.flags.store);
  for (const RunRecord& run : bundle.runs) {
    require_whole_run(run, "what is to be exported");  // nobody could read it
    if (run.status != "complete") session.console.say("run " + run.id + " is not complete");
    runs.push_back({{"id", run.id}, {"samples", run.samples.size()}, {"sha256", run_digest(run)}});
  }
  const std::string bytes = bundle_bytes(std::move(bundle));
  write_file_atomically(output_, bytes);
  if (session.flags.json) {
    session.console.result(json_line({{"file", json_text(output_)},
                                      {"bytes", bytes.size()},
                                      {"sha256", sha256_hex(bytes)},
                                      {"runs", std::move(runs)},
                                      {"policy", !policy_.empty()}}));
    return kOk;
  }
  std::string out = fmt::format("{}: {} bytes\n  SHA-256 {}\n", printable(output_), bytes.size(),
                                sha256_hex(bytes));
  for (const Json& run : runs)
    out +=
        fmt::format("  run {}  {} answers  digest {}\n", run["id"].get<std::string>(),
                    run["samples"].get<size_t>(), run["sha256"].get<std::string>().substr(0, 12));
  session.console.result(out + (policy_.empty() ? "" : "  with a policy\n"));
  session.console.suggest("isobit verify " + shell_word(output_));
  return kOk;
}

int StoreExchange::import_bundle(Session& session) const {
  const RunBundle bundle = load_bundle(input_);  // before a store is made
  MergeSource source;
  for (const RunRecord& run : bundle.runs) source.run_ids.push_back(run.id);
  source.load = [&](const std::string& id) {
    return *std::ranges::find(bundle.runs, id, &RunRecord::id);
  };
  const MergeResult result = merge_into(session.flags.store, source);
  const int code =
      report(result, input_, session.flags.store, {{"policy", !bundle.policy.empty()}}, session);
  if (code == kOk && !bundle.policy.empty()) {
    session.console.say("its policy stays in the file: isobit gate BASE CAND --policy " +
                        shell_word(input_));
  }
  return code;
}

int StoreExchange::merge_store(Session& session) const {
  const std::string& into = into_.empty() ? session.flags.store : into_;
  std::error_code ignored;
  if (fs::equivalent(input_, into, ignored))
    throw Error(ErrorCode::usage, "'" + into + "' cannot be merged with itself");
  Store other = Store::open(input_, StoreMode::kRead);
  MergeSource source;
  for (const RunSummary& run : other.list_runs()) source.run_ids.push_back(run.id);
  source.load = [&](const std::string& id) {
    RunRecord run = other.load_run(id);
    require_whole_run(run, "store '" + input_ + "'");
    return run;
  };
  source.baselines = other.list_baselines();
  source.comparisons = other.list_comparisons();
  return report(merge_into(into, source), input_, into, Json::object(), session);
}

}  // namespace isobit::app

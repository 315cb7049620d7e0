// Two stores, or a store and a bundle, become one: all of it or nothing, and never two answers for
// one name.
#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "store/rows.h"
#include "store/run_difference.h"
#include "store/store.h"
#include "store/store_state.h"

namespace isobit {
namespace {

std::optional<int64_t> key_of(Database& database, const std::string& run_id) {
  Statement row(database, "SELECT run_key FROM run WHERE id = ?1");
  row.add(run_id);
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
}

std::string words(const Baseline& b) {
  return "run " + b.run_id + " since " + b.created +
         (b.policy.empty() ? ", no policy"
                           : ", a policy of " + std::to_string(b.policy.size()) + " bytes") +
         (b.note.empty() ? "" : ", note '" + b.note + "'");
}

auto fields(const Baseline& b) {
  return std::tie(b.name, b.version, b.run_id, b.created, b.policy, b.note);
}

auto fields(const SavedComparison& c) {
  return std::tie(c.base_run, c.candidate_run, c.created, c.level, c.verdict, c.document_json);
}

// Baselines that are not there yet; those of one name and version that are not the same.
std::vector<Baseline> new_baselines(const std::vector<Baseline>& here,
                                    const std::vector<Baseline>& there,
                                    std::vector<MergeConflict>& conflicts) {
  std::vector<Baseline> out;
  for (const Baseline& b : there) {
    const auto known = std::ranges::find_if(
        here, [&](const Baseline& h) { return h.name == b.name && h.version == b.version; });
    if (known == here.end()) {
      out.push_back(b);
    } else if (fields(*known) != fields(b)) {
      conflicts.push_back({"baseline " + b.name + " version " + std::to_string(b.version),
                           "what it names", words(*known), words(b)});
    }
  }
  return out;
}

void insert_baseline(Database& database, const Baseline& b) {
  const auto run_key = key_of(database, b.run_id);
  if (!run_key)
    throw Error(ErrorCode::environment,
                "baseline '" + b.name + "' names run " + b.run_id + ", which is not there");
  Statement insert(database,
                   "INSERT INTO baseline (name, version, run_key, created, policy, note)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  insert.add(b.name).add(b.version).add(*run_key).add(b.created).add(b.policy).add(b.note);
  insert.run();
}

// What `there` has and the store has not. Gives the number of new answers.
int64_t add_rows(Database& database, int64_t run_key, const RunRecord* here,
                 const RunRecord& there) {
  int64_t n = 0;
  SampleWriter samples(database, run_key);
  for (const SampleRecord& sample : there.samples)
    n += samples.write(sample) == Landing::kStored ? 1 : 0;
  ForcedWriter forced(database, run_key);
  for (const ForcedRecord& record : there.forced) forced.write(record);
  for (const CellRecord& cell : there.cells) {
    const bool ended_here = here && here->cells[static_cast<size_t>(cell.index)].complete;
    if (cell.complete && !ended_here) update_cell(database, run_key, cell);
  }
  if (there.status == "complete")
    set_run_complete(database, run_key);
  else if (!here)
    set_stop_reason(database, run_key, there.stop_reason);
  return n;
}

void find_run_conflicts(Database& database, const MergeSource& source,
                        std::vector<MergeConflict>& conflicts) {
  for (const std::string& id : source.run_ids) {
    const auto run_key = key_of(database, id);
    if (!run_key) continue;
    const auto found = run_difference(read_run(database, *run_key), source.load(id));
    if (found) conflicts.push_back({"run " + id, found->place, found->here, found->there});
  }
}

class Merge {
 public:
  Merge(Database& database, const MergeSource& source) : database_(database), source_(source) {}

  void add_runs() {
    for (const std::string& id : source_.run_ids) add_run(id);
  }

  MergeResult result;

 private:
  void add_run(const std::string& id) {
    const RunRecord there = source_.load(id);
    const auto run_key = key_of(database_, id);
    if (!run_key) {
      check_run_header(there);
      insert_run(database_, there);
      result.n_samples_added += add_rows(database_, key_of(database_, id).value(), nullptr, there);
      result.n_runs_added++;
      return;
    }
    const RunRecord here = read_run(database_, *run_key);
    const int before = sqlite3_total_changes(database_.get());
    if (here.status != "complete")
      result.n_samples_added += add_rows(database_, *run_key, &here, there);
    const bool changed = sqlite3_total_changes(database_.get()) != before;
    (changed ? result.n_runs_continued : result.n_runs_there)++;
  }

  Database& database_;
  const MergeSource& source_;
};

}  // namespace

std::vector<MergeConflict> Store::merge_conflicts(const MergeSource& source) {
  std::vector<MergeConflict> conflicts;
  find_run_conflicts(state_->database, source, conflicts);
  static_cast<void>(new_baselines(list_baselines(), source.baselines, conflicts));
  return conflicts;
}

MergeResult Store::merge(const MergeSource& source) {
  Transaction transaction(state_->database);
  Merge merge(state_->database, source);
  find_run_conflicts(state_->database, source, merge.result.conflicts);
  const auto baselines = new_baselines(list_baselines(), source.baselines, merge.result.conflicts);
  if (!merge.result.conflicts.empty()) return std::move(merge.result);
  merge.add_runs();
  for (const Baseline& baseline : baselines) insert_baseline(state_->database, baseline);
  merge.result.n_baselines_added = static_cast<int64_t>(baselines.size());
  std::vector<SavedComparison> known = list_comparisons();
  for (const SavedComparison& c : source.comparisons) {
    const bool is_known =
        std::ranges::any_of(known, [&](const auto& k) { return fields(k) == fields(c); });
    if (is_known) continue;
    save_comparison(c);
    known.push_back(c);
    merge.result.n_comparisons_added++;
  }
  transaction.commit();
  return std::move(merge.result);
}

}  // namespace isobit

// The store: runs in one SQLite file that survives crashes, and everything that is read back from
// it.
//
// Recording: every sample is committed before append returns (WAL; a killed process loses nothing,
// a power cut at most the last moments, which --resume runs again). On a clean close the file is
// single again. Reading: a store is an untrusted file; lengths, counts and words are checked before
// use, and what does not fit is Error(environment) naming the row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "record/run_record.h"
#include "record/run_sink.h"

namespace isobit {

enum class StoreMode { kRead, kRecord };

struct StoreOptions {
  int busy_timeout_ms = 5000;             // how long a locked store is waited for
  std::optional<int64_t> max_size_bytes;  // refuse to grow beyond; as if the disk ended there
};

struct RunSummary {
  std::string id, created, target, label, status, fingerprint_id;
  int64_t n_prompts = 0, n_cells = 0, n_complete_cells = 0, n_samples = 0;
  bool redacted = false;
};

struct StoreSummary {
  int32_t schema_version = 0;
  int64_t size_bytes = 0;  // of the file, without a journal beside it
  int64_t n_runs = 0, n_samples = 0, n_tokens = 0, n_comparisons = 0;
};

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>>
      rows;  // null, integer, number, string as stored (UTF-8 or not); a BLOB is "x'..'"
  bool truncated = false;  // there were more than max_rows
};

// The verdict of a comparison or a gate that is worth keeping.
struct SavedComparison {
  std::string base_run, candidate_run;  // run ids
  std::string created;                  // RFC 3339, UTC
  int32_t level = 0;
  std::string verdict;        // "pass", "fail", ...
  std::string document_json;  // everything else, as the comparison wrote it
};

// A run that others are held to. The largest version of a name is the one in force.
struct Baseline {
  std::string name;  // 1 to 64 of [0-9A-Za-z_.-]
  int64_t version = 0;
  std::string run_id;
  std::string created;  // RFC 3339, UTC
  std::string policy;   // the policy's own text; empty: none was chosen
  std::string note;
};

enum class BaselineRuns { kKeep, kRemove };

// What another store or a bundle holds, to be taken in. Runs are asked for one at a time.
struct MergeSource {
  std::vector<std::string> run_ids;  // in the order in which they become the latest
  std::function<RunRecord(const std::string& id)> load = {};
  std::vector<Baseline> baselines;  // by name, then version
  std::vector<SavedComparison> comparisons;
};

// Two things of one name that are not the same.
struct MergeConflict {
  std::string subject;      // "run 3f2a", "baseline prod version 2"
  std::string differs_in;   // "samples[3].text"
  std::string here, there;  // what each side has there, shortened
};

struct MergeResult {
  int64_t n_runs_added = 0, n_runs_continued = 0, n_runs_there = 0;
  int64_t n_samples_added = 0, n_baselines_added = 0, n_comparisons_added = 0;
  std::vector<MergeConflict> conflicts;  // not empty: nothing was changed
};

struct PruneResult {
  int64_t n_runs = 0, n_samples = 0, n_comparisons = 0, n_baselines = 0;
  int64_t bytes_before = 0, bytes_after = 0;  // of the file
};

// The library's version, for fingerprints.
std::string sqlite_version();

class Store {
 public:
  // kRead: the file must exist and is never changed. kRecord: it is created, or migrated to the
  // current schema, if need be; a file that cannot become a store is left as it was. Throws
  // Error(environment), with a message of its own each, for: no file, no folder, symbolic link, not
  // a regular file, empty (kRead), not a database, another program's database, a newer schema,
  // truncated, locked, not writable, full disk.
  static Store open(const std::filesystem::path& path, StoreMode mode,
                    const StoreOptions& options = {});
  ~Store();  // closes, and swallows what close() would throw
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Folds the journal into the file (kRecord). Another process that still reads keeps the journal
  // alive; that is no error.
  void close();

  // Everything of `header` but its samples; cells start incomplete. status becomes "running".
  // Throws Error(usage) when the id is taken or is not 1 to 64 of [0-9A-Za-z_.-].
  void create_run(const RunRecord& header);
  // For the runner. The store must outlive it. Throws Error(usage) for an unknown run.
  std::unique_ptr<RunSink> recorder(const std::string& run_id);
  void finish_run(const std::string& run_id);  // status "complete"
  // Why a run stopped before it was complete.
  void note_stop(const std::string& run_id, const std::string& reason);

  // Exactly one of: "latest", "latest~N" (N runs before it), "@NAME" (a baseline's run), "@NAME~N"
  // (N versions before it), an id, a unique beginning of an id. Throws Error(usage) for no such run
  // or several.
  std::string resolve_ref(std::string_view ref);
  RunRecord load_run(const std::string& run_id);
  std::vector<RunSummary> list_runs();  // oldest first
  StoreSummary info();

  std::vector<Baseline> list_baselines();  // by name, then version
  // Of one name, the version in force first. Throws Error(usage) with the nearest name.
  std::vector<Baseline> baseline_history(const std::string& name);
  // Stores it as the next version of its name and returns it with that version.
  Baseline add_baseline(const Baseline& baseline);
  // One version, or the name with its history; returns how many versions went. The runs stay.
  size_t remove_baseline(const std::string& name, std::optional<int64_t> version);

  // Removes runs with all that belongs to them, and gives the space back to the file system. Throws
  // Error(usage), with nothing removed, for a baseline's run unless baselines go too.
  PruneResult prune_runs(const std::vector<std::string>& run_ids, BaselineRuns baselines);

  // Takes in all of it or nothing: one transaction. What is there already stays as it is, so a
  // second time changes nothing; a run that one side has further than the other goes on from there.
  MergeResult merge(const MergeSource& source);
  // What would keep a merge from happening. Changes nothing, so kRead will do.
  std::vector<MergeConflict> merge_conflicts(const MergeSource& source);

  void save_comparison(const SavedComparison& comparison);
  std::vector<SavedComparison> list_comparisons();  // oldest first

  // One statement that only reads. Throws Error(usage) for anything else and for errors in the SQL.
  QueryResult query(std::string_view sql, size_t max_rows);

  // The version that "NAME" or "NAME~1" means, without the '@'. Throws Error(usage).
  Baseline find_baseline(std::string_view ref);

  // Problems found, in plain words; empty when the store is sound. Checks the file, its foreign
  // keys, the schema, and loads every run.
  std::vector<std::string> check();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace isobit

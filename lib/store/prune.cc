// Retention: runs leave the store, and the file becomes smaller by what they took.
#include "base/error.h"
#include "store/store.h"
#include "store/store_state.h"

namespace isobit {
namespace {

// Bytes of the pages in use, without those that a deletion has freed.
int64_t used_bytes(Database& database) {
  return database.number("PRAGMA page_count") * database.number("PRAGMA page_size");
}

int64_t delete_baselines(Database& database, int64_t run_key) {
  Statement drop(database, "DELETE FROM baseline WHERE run_key = ?1");
  drop.add(run_key).run();
  return sqlite3_changes(database.get());
}

int64_t count(Database& database, const std::string& sql, int64_t run_key) {
  Statement row(database, sql);
  row.add(run_key).step();
  return row.integer(0);
}

// A baseline's run goes only with the baseline.
void require_no_baseline(Database& database, const std::string& run_id, int64_t run_key) {
  Statement row(database, "SELECT name, version FROM baseline WHERE run_key = ?1");
  row.add(run_key);
  if (!row.step()) return;
  throw Error(ErrorCode::usage,
              "run " + run_id + " is version " + std::to_string(row.integer(1)) + " of baseline '" +
                  row.text(0) + "'",
              "isobit baseline rm lets go of it");
}

}  // namespace

PruneResult Store::prune_runs(const std::vector<std::string>& run_ids, BaselineRuns baselines) {
  Database& database = state_->database;
  PruneResult out;
  out.bytes_before = used_bytes(database);
  std::vector<int64_t> keys;
  for (const std::string& id : run_ids) {
    keys.push_back(state_->run_key(id));
    if (baselines == BaselineRuns::kKeep) require_no_baseline(database, id, keys.back());
  }
  Transaction transaction(database);
  for (const int64_t key : keys) {
    if (baselines == BaselineRuns::kRemove) out.n_baselines += delete_baselines(database, key);
    out.n_samples += count(database, "SELECT count(*) FROM sample WHERE run_key = ?1", key);
    out.n_comparisons +=
        count(database,
              "SELECT count(*) FROM comparison WHERE ?1 IN (base_run_key, candidate_run_key)", key);
    Statement drop(database, "DELETE FROM run WHERE run_key = ?1");
    drop.add(key).run();
    out.n_runs++;
  }
  transaction.commit();
  try {
    database.execute("VACUUM");
    static_cast<void>(database.text("PRAGMA wal_checkpoint(TRUNCATE)"));
  } catch (const Error& e) {
    throw Error(
        e.code(),
        std::to_string(out.n_runs) + " runs are gone, but the file stays as large: " + e.message(),
        "make room and run isobit store prune again");
  }
  out.bytes_after = used_bytes(database);
  return out;
}

}  // namespace isobit

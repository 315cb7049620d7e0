#include "store/store.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "store/migrations.h"
#include "store/rows.h"
#include "store/store_file.h"
#include "store/store_state.h"

namespace isobit {
namespace {

// Makes the file a store of the current schema. Until that is done the journal is SQLite's ordinary
// one, so that the file itself says whose it is from its first bytes on.
void prepare_for_recording(Database& database, const StoreOptions& options) {
  if (options.max_size_bytes) {
    const int64_t pages = *options.max_size_bytes / database.number("PRAGMA page_size");
    database.execute("PRAGMA max_page_count = " + std::to_string(std::max<int64_t>(1, pages)));
  }
  if (database.number("PRAGMA user_version") < current_schema_version())
    migrate(database, migrations());
  database.text("PRAGMA journal_mode = WAL");
  database.execute("PRAGMA synchronous = NORMAL");
}

// An older store is read through a copy that is brought up to date; the file stays as it is.
void make_readable(Database& database) {
  const int64_t version = database.number("PRAGMA user_version");
  if (version == current_schema_version()) return;
  if (version >= 1 && version < current_schema_version()) {
    database.move_to_memory();
    migrate(database, migrations());
    return;
  }
  throw Error(ErrorCode::environment,
              "store '" + database.path().string() + "' has schema version " +
                  std::to_string(version) + ", expected " +
                  std::to_string(current_schema_version()),
              version < 1 ? "isobit numbers its schemas from 1: this file is not a store, or was "
                            "never finished as one; name another with --store"
                          : "a newer isobit wrote it; read it with that one");
}

class Recorder : public RunSink {
 public:
  Recorder(Database& database, int64_t run_key)
      : database_(database),
        run_key_(run_key),
        writer_(database, run_key),
        forced_writer_(database, run_key) {}

  void begin_cell(const CellRecord& cell) override {
    Statement row(database_, "SELECT name FROM cell WHERE run_key = ?1 AND cell_index = ?2");
    row.add(run_key_).add(int64_t{cell.index});
    const std::string stored = row.step() ? row.text(0) : std::string();
    if (stored != cell.name) {
      refuse_row(database_, "cell " + std::to_string(cell.index),
                 "is '" + stored + "', expected '" + cell.name + "'");
    }
  }

  Landing sample(const SampleRecord& sample) override { return writer_.write(sample); }

  void forced(const ForcedRecord& forced) override { forced_writer_.write(forced); }

  void end_cell(const CellRecord& cell) override {
    update_cell(database_, run_key_, cell);
    // Onto the disk now and then: after a power cut at most one cell has to run again.
    static_cast<void>(database_.text("PRAGMA wal_checkpoint(PASSIVE)"));
  }

 private:
  Database& database_;
  int64_t run_key_;
  SampleWriter writer_;
  ForcedWriter forced_writer_;
};

}  // namespace

std::string sqlite_version() {
  return sqlite3_libversion();
}

int64_t Store::State::run_key(const std::string& run_id) {
  Statement row(database, "SELECT run_key FROM run WHERE id = ?1");
  row.add(run_id);
  if (row.step()) return row.integer(0);
  std::vector<std::string> ids;
  for (Statement all(database, "SELECT id FROM run"); all.step();) ids.push_back(all.text(0));
  throw Error(ErrorCode::usage,
              "store '" + database.path().string() + "' has no run '" + run_id.substr(0, 80) + "'" +
                  did_you_mean(run_id, ids),
              "isobit store list --store FILE lists its runs");
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Store::~Store() {
  try {
    close();
  } catch (const Error&) {
    // Every sample is committed; the journal beside the file is folded in when the store is next
    // opened for recording.
  }
}

Store Store::open(const std::filesystem::path& path, StoreMode mode, const StoreOptions& options) {
  const StoreFile file = inspect_store_file(path, mode);
  if (mode == StoreMode::kRead) {
    auto state =
        std::make_unique<State>(path, DatabaseAccess::kRead, options.busy_timeout_ms, mode);
    make_readable(state->database);
    return Store(std::move(state));
  }
  const auto access = file == StoreFile::kAbsent ? DatabaseAccess::kCreate : DatabaseAccess::kWrite;
  try {
    auto state = std::make_unique<State>(path, access, options.busy_timeout_ms, mode);
    prepare_for_recording(state->database, options);
    return Store(std::move(state));
  } catch (const Error&) {
    // What could not become a store leaves nothing behind; another process may have made it one
    // meanwhile.
    std::error_code ignored;
    if (file == StoreFile::kAbsent && std::filesystem::file_size(path, ignored) == 0 && !ignored) {
      std::filesystem::remove(path, ignored);
    }
    throw;
  }
}

void Store::close() {
  if (!state_) return;
  const std::unique_ptr<State> state = std::move(state_);
  if (state->mode == StoreMode::kRead) return;
  static_cast<void>(state->database.text("PRAGMA wal_checkpoint(TRUNCATE)"));
  try {
    static_cast<void>(state->database.text("PRAGMA journal_mode = DELETE"));
  } catch (const Error&) {
    // Someone still reads. The last one to close folds the journal in.
  }
}

void Store::create_run(const RunRecord& header) {
  check_run_header(header);
  Transaction transaction(state_->database);
  Statement taken(state_->database, "SELECT 1 FROM run WHERE id = ?1");
  if (taken.add(header.id).step()) {
    throw Error(
        ErrorCode::usage,
        "store '" + state_->database.path().string() + "' has a run '" + header.id + "' already",
        "give the new run another id");
  }
  taken.reset();
  insert_run(state_->database, header);
  transaction.commit();
}

std::unique_ptr<RunSink> Store::recorder(const std::string& run_id) {
  return std::make_unique<Recorder>(state_->database, state_->run_key(run_id));
}

void Store::finish_run(const std::string& run_id) {
  set_run_complete(state_->database, state_->run_key(run_id));
}

void Store::note_stop(const std::string& run_id, const std::string& reason) {
  set_stop_reason(state_->database, state_->run_key(run_id), reason);
}

RunRecord Store::load_run(const std::string& run_id) {
  return read_run(state_->database, state_->run_key(run_id));
}

void Store::save_comparison(const SavedComparison& c) {
  Statement insert(
      state_->database,
      "INSERT INTO comparison (base_run_key, candidate_run_key, created, level, verdict,"
      " document_json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  insert.add(state_->run_key(c.base_run)).add(state_->run_key(c.candidate_run)).add(c.created);
  insert.add(int64_t{c.level}).add(c.verdict).add(c.document_json).run();
}

std::vector<SavedComparison> Store::list_comparisons() {
  Statement row(
      state_->database,
      "SELECT b.id, k.id, c.created, c.level, c.verdict, c.document_json FROM comparison c"
      " JOIN run b ON b.run_key = c.base_run_key"
      " JOIN run k ON k.run_key = c.candidate_run_key ORDER BY comparison_key");
  std::vector<SavedComparison> out;
  while (row.step()) {
    const int64_t level = row.integer(3);
    if (level < 0 || level > 2)
      refuse_row(state_->database, "a comparison", "level is " + std::to_string(level));
    out.push_back({row.text(0), row.text(1), row.text(2), static_cast<int32_t>(level), row.text(4),
                   row.text(5)});
  }
  return out;
}

}  // namespace isobit

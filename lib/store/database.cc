#include "store/database.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "store/lock_holder.h"

namespace isobit {
namespace {

struct Explanation {
  ErrorCode code = ErrorCode::environment;
  std::string what;
  std::string hint;
};

Explanation explain_lock(const std::filesystem::path& path) {
  const std::string holders = processes_holding(path);
  return {ErrorCode::environment,
          "it is locked" + (holders.empty() ? " by another process, perhaps on another machine"
                                            : " by " + holders),
          "wait until the other run has ended, or record to another store"};
}

// The error number of the system call that SQLite failed at; 0: none, or none known. SQLite notes
// it for these two codes only, and leaves the number of an earlier failure where it stands.
int system_error_of(sqlite3* handle, int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN ? sqlite3_system_errno(handle) : 0;
}

// "disk I/O error: File too large", where the system said why.
std::string with_reason(const char* sqlite_text, int system_error) {
  return sqlite_text + (system_error == 0 ? "" : std::string(": ") + std::strerror(system_error));
}

Explanation explain(int code, const std::string& sqlite_text, const std::filesystem::path& path) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return explain_lock(path);
    case SQLITE_FULL:
      return {ErrorCode::environment, "there is no space left for it",
              "free some space or choose --store elsewhere; what was recorded is kept"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::environment, "no permission to write: " + sqlite_text,
              "the folder must be writable too: SQLite keeps its journal beside the store"};
    case SQLITE_CANTOPEN:
      return {ErrorCode::environment, "it cannot be opened: " + sqlite_text,
              "check that the folder exists and may be written; SQLite keeps its journal beside "
              "the store"};
    case SQLITE_NOTADB:
      return {ErrorCode::environment, "it is not an SQLite database",
              "give the path of an isobit store"};
    case SQLITE_CORRUPT:
      return {ErrorCode::environment, "it is damaged: " + sqlite_text,
              "see isobit store check; restore the file from a copy"};
    case SQLITE_IOERR:
      return {ErrorCode::environment, "reading or writing failed: " + sqlite_text,
              "check the disk"};
    case SQLITE_NOMEM:
      return {ErrorCode::environment, "memory is exhausted", ""};
    case SQLITE_TOOBIG:
      return {ErrorCode::environment, "a value is larger than SQLite takes", ""};
    case SQLITE_CONSTRAINT:
      if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
        return {ErrorCode::environment,
                "what is to be written is about a run that is not there any more",
                "another process removed it meanwhile; isobit store list has what is there"};
      return {ErrorCode::environment, "its own rules refuse the row: " + sqlite_text,
              "see isobit store check"};
    case SQLITE_ERROR:
      return {ErrorCode::environment, "its tables are not those of an isobit store: " + sqlite_text,
              "see isobit store check"};
    default:
      return {ErrorCode::internal, "SQLite: " + sqlite_text, ""};
  }
}

int open_flags(DatabaseAccess access) {
  switch (access) {
    case DatabaseAccess::kRead:
      return SQLITE_OPEN_READONLY;
    case DatabaseAccess::kWrite:
      return SQLITE_OPEN_READWRITE;
    case DatabaseAccess::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

Database::Database(const std::filesystem::path& path, DatabaseAccess access, int busy_timeout_ms)
    : path_(path) {
  // A leading "./" keeps a name such as ":memory:" or "file:x" a name.
  const std::string name = path.is_absolute() ? path.string() : "./" + path.string();
  connect(name, open_flags(access), busy_timeout_ms);
  if (access == DatabaseAccess::kRead && has_hot_journal())
    roll_back_journal(name, busy_timeout_ms);
}

// A process that was killed while it wrote leaves a journal that has to be rolled back before
// anybody can read, which a connection that only reads may not do.
bool Database::has_hot_journal() {
  const int code =
      sqlite3_exec(handle_, "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr);
  return code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY;
}

void Database::roll_back_journal(const std::string& name, int busy_timeout_ms) {
  const auto reconnect = [&](DatabaseAccess access) {
    sqlite3_close_v2(std::exchange(handle_, nullptr));
    connect(name, open_flags(access), busy_timeout_ms);
  };
  reconnect(DatabaseAccess::kWrite);
  const int code =
      sqlite3_exec(handle_, "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr);
  if ((code & 0xff) == SQLITE_READONLY || (code & 0xff) == SQLITE_CANTOPEN)
    throw Error(
        ErrorCode::environment,
        "store '" + path_.string() +
            "' was left in the middle of a change by a process that was "
            "killed; taking the change back needs permission to write the file and its folder",
        "read it once as somebody who may write there, for example with isobit store list");
  if (code != SQLITE_OK) fail(code, "recover");
  reconnect(DatabaseAccess::kRead);
}

Database::Database(InMemory) : path_("(in memory)") {
  connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0);
}

void Database::move_to_memory() {
  sqlite3* const file = std::exchange(handle_, nullptr);
  int code = SQLITE_OK;
  try {
    connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0);
    sqlite3_backup* const backup = sqlite3_backup_init(handle_, "main", file, "main");
    if (backup != nullptr) {
      sqlite3_backup_step(backup, -1);
      sqlite3_backup_finish(backup);
    }
    code = sqlite3_errcode(handle_);
  } catch (...) {
    sqlite3_close_v2(file);
    throw;
  }
  sqlite3_close_v2(file);
  if (code != SQLITE_OK) fail(code, "copy");
}

void Database::connect(const std::string& name, int flags, int busy_timeout_ms) {
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  try {
    if (code != SQLITE_OK) fail(code, "open");
    sqlite3_busy_timeout(handle_, busy_timeout_ms);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    execute("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON");
  } catch (...) {
    sqlite3_close_v2(std::exchange(handle_, nullptr));
    throw;
  }
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

void Database::fail(int code, const std::string& doing) const {
  const std::string text =
      handle_ ? with_reason(sqlite3_errmsg(handle_), system_error_of(handle_, code))
              : sqlite3_errstr(code);
  Explanation e = explain(code, text, path_);
  throw Error(e.code, "cannot " + doing + " store '" + path_.string() + "': " + e.what, e.hint);
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, "use");
}

int64_t Database::number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  const int code = sqlite3_prepare_v2(database.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code, "use");
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail(code, "use");
}

Statement& Statement::add(int64_t value) {
  check(sqlite3_bind_int64(statement_, ++n_bound_, value));
  return *this;
}
Statement& Statement::add(double value) {
  check(sqlite3_bind_double(statement_, ++n_bound_, value));
  return *this;
}
Statement& Statement::add(std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  check(sqlite3_bind_text64(statement_, ++n_bound_, text.empty() ? "" : text.data(), text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}
Statement& Statement::add_blob(std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_, ++n_bound_, bytes.empty() ? "" : bytes.data(), bytes.size(),
                            SQLITE_TRANSIENT));
  return *this;
}
Statement& Statement::add_null() {
  check(sqlite3_bind_null(statement_, ++n_bound_));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  // Reset first: it frees the locks that this statement holds. The text of the error stays.
  sqlite3_reset(statement_);
  database_.fail(code, sqlite3_stmt_readonly(statement_) ? "read" : "write to");
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  n_bound_ = 0;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes ? std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column)))
               : std::string();
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return bytes ? std::string_view(bytes,
                                  static_cast<size_t>(sqlite3_column_bytes(statement_, column)))
               : std::string_view();
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // A full disk or a lost file may have rolled back already; there is nothing left to undo then.
  if (open_ && !sqlite3_get_autocommit(database_.get())) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace isobit

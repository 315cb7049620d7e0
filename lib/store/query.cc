// `isobit store query`: SQL from the user against a file that must not change.
//
// Three fences: the authorizer lets only reading actions be compiled, the statement must be one
// that SQLite itself calls read-only, and query_only is on while it runs.
#include <cmath>
#include <cstring>

#include "base/digest.h"
#include "base/error.h"
#include "store/store_state.h"

namespace isobit {
namespace {

int allow_reading(void*, int action, const char* first, const char* second, const char*,
                  const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second && std::strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: {
      // Those that describe tables, asked and not set.
      for (const char* allowed :
           {"table_info", "table_xinfo", "table_list", "index_list", "index_info"}) {
        if (std::strcmp(first, allowed) == 0) return SQLITE_OK;
      }
      return !second && std::strcmp(first, "user_version") == 0 ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

// Holds the fences up while a query runs.
class ReadOnlyFence {
 public:
  explicit ReadOnlyFence(Database& database) : database_(database) {
    database_.execute("PRAGMA query_only = ON");
    sqlite3_set_authorizer(database_.get(), allow_reading, nullptr);
  }
  ~ReadOnlyFence() {
    sqlite3_set_authorizer(database_.get(), nullptr, nullptr);
    sqlite3_exec(database_.get(), "PRAGMA query_only = OFF", nullptr, nullptr, nullptr);
  }
  ReadOnlyFence(const ReadOnlyFence&) = delete;
  ReadOnlyFence& operator=(const ReadOnlyFence&) = delete;

 private:
  Database& database_;
};

// Texts as they are stored, which may be no UTF-8: whoever shows them makes them visible.
Json column_value(const Statement& statement, int column) {
  switch (sqlite3_column_type(statement.get(), column)) {
    case SQLITE_INTEGER:
      return statement.integer(column);
    case SQLITE_FLOAT: {
      const double value = statement.real(column);
      if (std::isfinite(value)) return value;
      return value > 0 ? "inf" : "-inf";
    }
    case SQLITE_TEXT:
      return std::string(statement.text(column));
    case SQLITE_BLOB: {
      const std::string_view bytes = statement.blob(column);
      return "x'" + hex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}) + "'";
    }
    default:
      return nullptr;
  }
}

sqlite3_stmt* prepare_one(sqlite3* handle, std::string_view sql) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::usage, "the query is refused: " + what,
                "isobit store query takes one SELECT");
  };
  if (sql.size() > 1'000'000) refuse("it is longer than 1,000,000 bytes");
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement, &tail);
  const std::string rest(
      tail ? std::string_view(tail, static_cast<size_t>(sql.data() + sql.size() - tail)) : "");
  std::string problem;
  if ((code & 0xff) == SQLITE_AUTH) {
    problem = "it does more than read (" + std::string(sqlite3_errmsg(handle)) + ")";
  } else if (code != SQLITE_OK) {
    problem = sqlite3_errmsg(handle);
  } else if (!statement) {
    problem = "it is empty";
  } else if (rest.find_first_not_of(" \t\r\n;") != std::string::npos) {
    problem = "it holds more than one statement";
  } else if (!sqlite3_stmt_readonly(statement)) {
    problem = "it would change the store";
  }
  if (!problem.empty()) {
    sqlite3_finalize(statement);
    refuse(problem);
  }
  return statement;
}

}  // namespace

QueryResult Store::query(std::string_view sql, size_t max_rows) {
  const ReadOnlyFence fence(state_->database);
  Statement statement(state_->database, prepare_one(state_->database.get(), sql));
  QueryResult out;
  const int n_columns = sqlite3_column_count(statement.get());
  for (int c = 0; c < n_columns; ++c)
    out.columns.emplace_back(sqlite3_column_name(statement.get(), c));
  while (statement.step()) {
    if (out.rows.size() == max_rows) {
      out.truncated = true;
      break;
    }
    std::vector<Json>& row = out.rows.emplace_back();
    for (int c = 0; c < n_columns; ++c) row.push_back(column_value(statement, c));
  }
  return out;
}

}  // namespace isobit

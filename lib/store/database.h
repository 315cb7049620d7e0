// SQLite behind three small types, with its error codes turned into messages that say what to do.
//
// Only files of this folder (and its tests) see sqlite3.h.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace isobit {

enum class DatabaseAccess { kRead, kWrite, kCreate };
struct InMemory {};

class Database {
 public:
  // Opens an ordinary file; triggers, unsafe schema functions and writes to the schema by SQL are
  // off.
  Database(const std::filesystem::path& path, DatabaseAccess access, int busy_timeout_ms);
  explicit Database(InMemory);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One or more statements without results.
  void execute(const std::string& sql);
  // The first column of the first row, as an integer or a text.
  int64_t number(const std::string& sql);
  std::string text(const std::string& sql);

  // From here on a copy in memory; the file is not touched again.
  void move_to_memory();

  sqlite3* get() const { return handle_; }
  const std::filesystem::path& path() const { return path_; }

  // Throws the Error that `code` stands for. `doing` completes "cannot ... store 'path'".
  [[noreturn]] void fail(int code, const std::string& doing) const;

 private:
  void connect(const std::string& name, int flags, int busy_timeout_ms);
  bool has_hot_journal();
  void roll_back_journal(const std::string& name, int busy_timeout_ms);

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
};

// A prepared statement. Result columns count from 0.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  Statement(Database& database, sqlite3_stmt* prepared)
      : database_(database), statement_(prepared) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Each binds the next parameter; reset() and run() begin again at the first.
  Statement& add(int64_t value);
  Statement& add(double value);
  Statement& add(std::string_view text);
  Statement& add_blob(std::string_view bytes);
  Statement& add_null();

  // True while there is a row.
  bool step();
  // For statements without rows: runs once and makes it ready for the next binding.
  void run();
  void reset();

  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string_view blob(int column) const;  // valid until the next step or reset

  sqlite3_stmt* get() const { return statement_; }

 private:
  void check(int code) const;

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int n_bound_ = 0;
};

// Takes the write lock at once; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace isobit

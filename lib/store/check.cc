// `isobit store check`: is this file what isobit wrote?
#include <map>

#include "base/error.h"
#include "record/answer_counts.h"
#include "record/fact_bounds.h"
#include "store/migrations.h"
#include "store/rows.h"
#include "store/store_state.h"

namespace isobit {
namespace {

constexpr size_t kMaxProblems = 100;

// name -> the SQL that made it, white space folded (ALTER and dumps may reflow it).
std::map<std::string, std::string> schema_of(Database& database) {
  std::map<std::string, std::string> out;
  Statement row(database,
                "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT "
                "LIKE 'sqlite_%'");
  while (row.step()) {
    std::string folded;
    for (const char c : row.text(1)) {
      const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
      if (!blank) folded += c;
      if (blank && !folded.empty() && folded.back() != ' ') folded += ' ';
    }
    out[row.text(0)] = folded;
  }
  return out;
}

std::map<std::string, std::string> expected_schema() {
  Database fresh{InMemory{}};
  migrate(fresh, migrations());
  return schema_of(fresh);
}

void check_schema(Database& database, std::vector<std::string>& problems) {
  const auto found = schema_of(database), expected = expected_schema();
  for (const auto& [name, sql] : expected) {
    const auto at = found.find(name);
    if (at == found.end())
      problems.push_back(name + " is missing");
    else if (at->second != sql)
      problems.push_back(name + " is not defined as in this version");
  }
  for (const auto& [name, sql] : found) {
    if (!expected.contains(name)) problems.push_back(name + " does not belong to a store");
  }
}

void check_file(Database& database, std::vector<std::string>& problems) {
  for (Statement row(database, "PRAGMA integrity_check(20)"); row.step();) {
    if (row.text(0) != "ok") problems.push_back("file: " + row.text(0));
  }
  for (Statement row(database, "PRAGMA foreign_key_check");
       row.step() && problems.size() < kMaxProblems;) {
    problems.push_back("row " + row.text(1) + " of table " + row.text(0) + " refers to a row of " +
                       row.text(2) + " that is not there");
  }
}

void check_run(const RunRecord& run, std::vector<std::string>& problems) {
  for (const std::string& fact : facts_out_of_bounds(run))
    problems.push_back("run " + run.id + ": " + fact);
  for (const std::string& count : wrong_answer_counts(run))
    problems.push_back("run " + run.id + ": " + count);
}

}  // namespace

std::vector<std::string> Store::check() {
  std::vector<std::string> problems;
  // Each part on its own: a damaged file stops one of them with an error, and the others still tell
  // what they see.
  const auto guarded = [&](const auto& part) {
    try {
      part();
    } catch (const Error& e) {
      problems.push_back(e.message());
    }
  };
  guarded([&] { check_file(state_->database, problems); });
  guarded([&] { check_schema(state_->database, problems); });
  std::vector<int64_t> keys;
  guarded([&] {
    for (Statement row(state_->database, "SELECT run_key FROM run ORDER BY run_key"); row.step();)
      keys.push_back(row.integer(0));
  });
  for (const int64_t key : keys) {
    guarded([&] { check_run(read_run(state_->database, key), problems); });
  }
  if (problems.size() > kMaxProblems) {
    const size_t more = problems.size() - kMaxProblems;
    problems.resize(kMaxProblems);
    problems.push_back("and " + std::to_string(more) + " more");
  }
  return problems;
}

}  // namespace isobit

// Baselines: names for runs that others are held to, each with its history.
#include <algorithm>

#include "base/error.h"
#include "store/store.h"
#include "store/store_state.h"

namespace isobit {
namespace {

constexpr const char* kColumns =
    "SELECT b.name, b.version, r.id, b.created, b.policy, b.note FROM baseline b"
    " JOIN run r USING (run_key)";

void check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= 64 && name.front() != '-' &&
                    std::ranges::all_of(name, [](unsigned char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                             (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
                    });
  if (!good)
    throw Error(ErrorCode::usage,
                "baseline name '" + name.substr(0, 80) + "' is not 1 to 64 of [0-9A-Za-z_.-]");
}

Baseline baseline_row(const Statement& row) {
  return {.name = row.text(0),
          .version = row.integer(1),
          .run_id = row.text(2),
          .created = row.text(3),
          .policy = row.text(4),
          .note = row.text(5)};
}

[[noreturn]] void refuse_name(const Database& database, const std::string& name,
                              const std::vector<Baseline>& all) {
  std::vector<std::string> names;
  for (const Baseline& baseline : all) {
    if (names.empty() || names.back() != baseline.name) names.push_back(baseline.name);
  }
  throw Error(
      ErrorCode::usage,
      "store '" + database.path().string() + "' has no baseline '" + name.substr(0, 80) + "'" +
          did_you_mean(name, names),
      names.empty() ? "isobit baseline set NAME RUN makes one" : "isobit baseline list shows them");
}

}  // namespace

std::vector<Baseline> Store::list_baselines() {
  Statement row(state_->database, std::string(kColumns) + " ORDER BY b.name, b.version");
  std::vector<Baseline> out;
  while (row.step()) out.push_back(baseline_row(row));
  return out;
}

std::vector<Baseline> Store::baseline_history(const std::string& name) {
  std::vector<Baseline> all = list_baselines(), out;
  std::ranges::copy_if(all, std::back_inserter(out),
                       [&](const Baseline& baseline) { return baseline.name == name; });
  if (out.empty()) refuse_name(state_->database, name, all);
  std::ranges::reverse(out);
  return out;
}

Baseline Store::add_baseline(const Baseline& baseline) {
  check_name(baseline.name);
  Database& database = state_->database;
  Transaction transaction(database);
  const int64_t run_key = state_->run_key(baseline.run_id);  // nobody can prune it from here on
  Statement newest(database, "SELECT coalesce(max(version), 0) FROM baseline WHERE name = ?1");
  newest.add(baseline.name).step();
  Baseline out = baseline;
  out.version = newest.integer(0) + 1;
  newest.reset();
  Statement insert(database,
                   "INSERT INTO baseline (name, version, run_key, created, policy, note)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  insert.add(out.name).add(out.version).add(run_key).add(out.created).add(out.policy).add(out.note);
  insert.run();
  transaction.commit();
  return out;
}

size_t Store::remove_baseline(const std::string& name, std::optional<int64_t> version) {
  const std::vector<Baseline> history = baseline_history(name);
  const bool known = !version || std::ranges::any_of(history, [&](const Baseline& baseline) {
    return baseline.version == *version;
  });
  if (!known) {
    throw Error(ErrorCode::usage,
                "baseline '" + name + "' has no version " + std::to_string(*version),
                "isobit baseline show " + name + " lists its versions");
  }
  Statement drop(state_->database,
                 "DELETE FROM baseline WHERE name = ?1 AND (?2 IS NULL OR version = ?2)");
  drop.add(name);
  version ? drop.add(*version) : drop.add_null();
  drop.run();
  return version ? 1 : history.size();
}

Baseline Store::find_baseline(std::string_view ref) {
  const size_t tilde = ref.find('~');
  const std::string name(ref.substr(0, tilde));
  const std::vector<Baseline> history = baseline_history(name);
  size_t back = 0;
  if (tilde != ref.npos) {
    const std::string digits(ref.substr(tilde + 1));
    const bool number = !digits.empty() && digits.size() <= 9 &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
    if (!number)
      throw Error(ErrorCode::usage, "'@" + std::string(ref.substr(0, 80)) + "' is no run reference",
                  "@" + name + "~1 is the version before the one in force");
    back = std::stoul(digits);
  }
  if (back >= history.size()) {
    throw Error(ErrorCode::usage, "baseline '" + name + "' has " + std::to_string(history.size()) +
                                      " versions; there is no '@" + std::string(ref.substr(0, 80)) +
                                      "'");
  }
  return history[back];
}

}  // namespace isobit

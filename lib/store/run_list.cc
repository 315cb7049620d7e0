// Which runs a store holds, and how a user names one.
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "store/store_state.h"

namespace isobit {
namespace {

// "latest" -> 0, "latest~3" -> 3; nullopt for anything else.
std::optional<size_t> runs_before_latest(std::string_view ref) {
  constexpr std::string_view kLatest = "latest";
  if (!ref.starts_with(kLatest)) return std::nullopt;
  ref.remove_prefix(kLatest.size());
  if (ref.empty()) return 0;
  size_t n = 0;
  const auto [end, error] = std::from_chars(ref.data() + 1, ref.data() + ref.size(), n);
  if (ref[0] != '~' || error != std::errc() || end != ref.data() + ref.size() || ref.size() == 1)
    return std::nullopt;
  return n;
}

std::string listed(const std::vector<std::string>& ids) {
  std::string out;
  for (size_t i = 0; i < ids.size() && i < 5; ++i) out += (i ? ", " : "") + ids[i];
  return ids.size() > 5 ? out + ", ..." : out;
}

// For a word that names no run: a label, a file that is not there, or what else to look at.
std::string what_it_may_be(Database& database, std::string_view ref) {
  std::vector<std::string> labelled;
  Statement row(database, "SELECT id FROM run WHERE label = ?1 ORDER BY run_key DESC");
  for (row.add(ref); row.step();) labelled.push_back(row.text(0));
  if (!labelled.empty()) return "that is a label; the runs so labelled: " + listed(labelled);
  for (const std::string_view end : {".json", ".tar", ".db"})
    if (ref.ends_with(end)) return "there is no file of that name either";
  return "isobit store list --store FILE lists its runs";
}

}  // namespace

std::string Store::resolve_ref(std::string_view ref) {
  const std::string word(ref.substr(0, 80));
  const std::string where = "store '" + state_->database.path().string() + "'";
  if (ref.starts_with('@')) return find_baseline(ref.substr(1)).run_id;
  std::vector<std::string> ids;
  for (Statement row(state_->database, "SELECT id FROM run ORDER BY run_key"); row.step();)
    ids.push_back(row.text(0));
  if (std::ranges::find(ids, ref) != ids.end()) return std::string(ref);
  if (ids.empty())
    throw Error(ErrorCode::usage, where + " holds no run", "record one with isobit run --store");
  if (const auto back = runs_before_latest(ref)) {
    if (*back < ids.size()) return ids[ids.size() - 1 - *back];
    throw Error(ErrorCode::usage, where + " holds " + std::to_string(ids.size()) +
                                      (ids.size() == 1 ? " run" : " runs") + ", so there is no '" +
                                      word + "'");
  }
  std::vector<std::string> matches;
  std::ranges::copy_if(ids, std::back_inserter(matches),
                       [&](const std::string& id) { return id.starts_with(ref); });
  if (matches.size() == 1 && !ref.empty()) return matches[0];
  if (matches.empty()) {
    throw Error(ErrorCode::usage, where + " has no run '" + word + "'" + did_you_mean(ref, ids),
                what_it_may_be(state_->database, ref));
  }
  throw Error(ErrorCode::usage,
              "'" + word + "' begins the ids of " + std::to_string(matches.size()) +
                  " runs: " + listed(matches),
              "give more of the id");
}

std::vector<RunSummary> Store::list_runs() {
  Statement row(state_->database,
                "SELECT id, created, target, label, status, fingerprint_id,"
                " (SELECT count(*) FROM request q WHERE q.run_key = r.run_key),"
                " (SELECT count(*) FROM cell c WHERE c.run_key = r.run_key),"
                " (SELECT count(*) FROM cell c WHERE c.run_key = r.run_key AND c.complete),"
                " (SELECT count(*) FROM sample s WHERE s.run_key = r.run_key), r.redacted FROM run "
                "r ORDER BY run_key");
  std::vector<RunSummary> out;
  while (row.step()) {
    out.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5),
                   row.integer(6), row.integer(7), row.integer(8), row.integer(9),
                   row.integer(10) != 0});
  }
  return out;
}

StoreSummary Store::info() {
  Database& database = state_->database;
  StoreSummary out;
  out.schema_version = static_cast<int32_t>(database.number("PRAGMA user_version"));
  out.size_bytes = database.number("PRAGMA page_count") * database.number("PRAGMA page_size");
  out.n_runs = database.number("SELECT count(*) FROM run");
  out.n_samples = database.number("SELECT count(*) FROM sample");
  out.n_tokens = database.number("SELECT coalesce(sum(n_positions), 0) FROM sample");
  out.n_comparisons = database.number("SELECT count(*) FROM comparison");
  return out;
}

}  // namespace isobit

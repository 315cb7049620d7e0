// `isobit store list|info|query|check|prune|export|import|merge`: what a store holds, whether it is
// sound, what may go, and what comes and goes as a file.
#include <map>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/recording_lock.h"
#include "app/run_claims.h"
#include "app/store_merge.h"
#include "app/store_prune.h"
#include "base/error.h"
#include "report/report.h"
#include "report/text_table.h"
#include "store/store.h"

namespace isobit::app {
namespace {

constexpr size_t kMaxRows = 100000;

// "interrupted": begun, not complete, and no process records it any more.
std::string shown_status(const RunSummary& r, bool is_recorded_to) {
  return r.status == "running" && !is_recorded_to ? "interrupted" : r.status;
}

int list(Store& store, bool is_recorded_to, Session& session) {
  Json runs = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const RunSummary& r : store.list_runs()) {
    runs.push_back({{"id", r.id},
                    {"created", r.created},
                    {"target", r.target},
                    {"label", r.label},
                    {"status", shown_status(r, is_recorded_to)},
                    {"redacted", r.redacted},
                    {"fingerprint", r.fingerprint_id},
                    {"prompts", r.n_prompts},
                    {"cells", r.n_cells},
                    {"complete_cells", r.n_complete_cells},
                    {"samples", r.n_samples}});
    rows.push_back({r.id, r.created,
                    shown_status(r, is_recorded_to) + (r.redacted ? ", redacted" : ""),
                    fmt::format("{}/{}", r.n_complete_cells, r.n_cells),
                    std::to_string(r.n_samples), r.label});
  }
  if (session.flags.json) {
    session.console.result(json_line({{"runs", runs}}));
  } else {
    session.console.result(text_table({{"run", Align::kLeft},
                                       {"created", Align::kLeft},
                                       {"status", Align::kLeft},
                                       {"cells", Align::kRight},
                                       {"samples", Align::kRight},
                                       {"label", Align::kLeft}},
                                      rows));
  }
  return kOk;
}

int info(Store& store, Session& session) {
  const StoreSummary s = store.info();
  if (session.flags.json) {
    session.console.result(json_line({{"path", session.flags.store},
                                      {"schema_version", s.schema_version},
                                      {"size_bytes", s.size_bytes},
                                      {"runs", s.n_runs},
                                      {"samples", s.n_samples},
                                      {"tokens", s.n_tokens},
                                      {"comparisons", s.n_comparisons}}));
  } else {
    session.console.result(fmt::format(
        "{}\nschema {}  {} bytes  {} runs  {} samples  {} tokens  {} saved comparisons\n",
        printable(session.flags.store), s.schema_version, s.size_bytes, s.n_runs, s.n_samples,
        s.n_tokens, s.n_comparisons));
  }
  return kOk;
}

std::string cell_text(const Json& value) {
  if (value.is_number_float() && value.get<double>() == 0) return "0.0";  // also -0.0
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

// JSON objects need distinct keys: a second "a" becomes "a:1".
std::vector<std::string> distinct_names(const std::vector<std::string>& columns) {
  std::vector<std::string> out;
  std::map<std::string, int> seen;
  for (const std::string& column : columns) {
    const int n = seen[column]++;
    out.push_back(n == 0 ? column : fmt::format("{}:{}", column, n));
  }
  return out;
}

int query(Store& store, const std::string& sql, Session& session) {
  const QueryResult result = store.query(sql, kMaxRows);
  if (result.truncated)
    session.console.warn(fmt::format("only the first {} rows are shown", kMaxRows));
  if (session.flags.json) {
    Json rows = Json::array();
    const std::vector<std::string> names = distinct_names(result.columns);
    for (const auto& row : result.rows) {
      Json object = Json::object();
      for (size_t i = 0; i < row.size(); ++i) object[names[i]] = row[i];
      rows.push_back(std::move(object));
    }
    session.console.result(json_line(rows));
    return kOk;
  }
  std::string out;
  for (size_t i = 0; i < result.columns.size(); ++i)
    out += (i ? "\t" : "") + printable(result.columns[i]);
  out += '\n';
  for (const auto& row : result.rows) {
    for (size_t i = 0; i < row.size(); ++i) out += (i ? "\t" : "") + printable(cell_text(row[i]));
    out += '\n';
  }
  session.console.result(out);
  return kOk;
}

std::vector<std::string> broken_claims_of(Store& store) {
  std::vector<std::string> out;
  for (const RunSummary& summary : store.list_runs()) {
    for (const std::string& claim : broken_claims(store.load_run(summary.id)))
      out.push_back("run " + summary.id + ": " + claim);
  }
  return out;
}

int check(Store& store, Session& session) {
  std::vector<std::string> problems = store.check();
  if (problems.empty()) problems = broken_claims_of(store);
  if (session.flags.json) {
    session.console.result(json_line({{"sound", problems.empty()}, {"problems", problems}}));
  } else {
    for (const std::string& problem : problems) session.console.result(printable(problem) + "\n");
    session.console.result(problems.empty() ? "the store is sound\n"
                                            : fmt::format("{} problem{}\n", problems.size(),
                                                          problems.size() == 1 ? "" : "s"));
  }
  return problems.empty() ? kOk : kEnvironment;
}

}  // namespace

std::function<int()> declare_store(CLI::App& app, Session& session) {
  app.require_subcommand(1);
  auto sql = std::make_shared<std::string>();
  CLI::App* list_app = app.add_subcommand("list", "The runs, oldest first");
  CLI::App* info_app = app.add_subcommand("info", "Schema, size and counts");
  CLI::App* query_app = app.add_subcommand(
      "query",
      "One read-only SQL statement; views: v_cell, v_sample, v_divergence, v_distinct, v_axis");
  query_app->add_option("SQL", *sql, "The statement")->required();
  CLI::App* check_app =
      app.add_subcommand("check", "Checks the file, its keys and every run in it");
  CLI::App* prune_app = app.add_subcommand("prune", "Removes runs, and gives the space back");
  auto prune = std::make_shared<PruneArguments>();
  declare_store_prune(*prune_app, *prune);
  auto exchange = std::make_shared<StoreExchange>(app);
  for (CLI::App* sub : {list_app, info_app, query_app, check_app, prune_app}) sub->fallthrough();
  prune_app->footer("Example:\n  isobit store prune --keep 20 --dry-run");
  list_app->footer("Example:\n  isobit store list");
  info_app->footer("Example:\n  isobit store info --store isobit.db");
  query_app->footer("Example:\n  isobit store query 'SELECT * FROM v_cell'");
  check_app->footer("Example:\n  isobit store check --store isobit.db");
  return [=, &session] {
    if (const auto done = exchange->run(session)) return *done;
    if (prune_app->parsed()) return prune_store(*prune, session);
    const bool recorded_to = is_recorded_to(session.flags.store);  // before the store is open
    Store store = Store::open(session.flags.store, StoreMode::kRead);
    if (list_app->parsed()) return list(store, recorded_to, session);
    if (info_app->parsed()) return info(store, session);
    return query_app->parsed() ? query(store, *sql, session) : check(store, session);
  };
}

}  // namespace isobit::app

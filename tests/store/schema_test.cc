// The schema in its three forms (migrations, schemas/store.sql, a real file) and the views that
// people read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "base/file.h"
#include "store/migrations.h"
#include "store/store.h"
#include "tests/store/sample_runs.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

// Without comments and white space: ALTER TABLE leaves them where they were.
std::string bare(const std::string& sql) {
  std::string out;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql.compare(i, 2, "--") == 0) i = std::min(sql.find('\n', i), sql.size() - 1);
    if (std::isspace(static_cast<unsigned char>(sql[i])) == 0) out += sql[i];
  }
  return out;
}

std::map<std::string, std::string> schema_of(Database& database) {
  std::map<std::string, std::string> out;
  for (Statement row(database, "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema");
       row.step();) {
    out[row.text(0)] = bare(row.text(1));
  }
  return out;
}

std::vector<std::vector<Json>> rows(Store& store, const std::string& sql) {
  return store.query(sql, 1000).rows;
}

}  // namespace

TEST_CASE("schemas/store.sql is what the migrations make") {
  Database migrated{InMemory{}};
  migrate(migrated, migrations());
  Database documented{InMemory{}};
  documented.execute(read_file(ISOBIT_SOURCE_DIR "/schemas/store.sql"));
  CHECK(schema_of(migrated).size() > 12);
  CHECK(schema_of(migrated) == schema_of(documented));
  CHECK(migrated.number("PRAGMA user_version") == documented.number("PRAGMA user_version"));
  CHECK(migrated.number("PRAGMA application_id") == documented.number("PRAGMA application_id"));
  CHECK(migrated.number("PRAGMA user_version") == current_schema_version());
  CHECK(migrated.number("SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = "
                        "'main' AND strict = 0"
                        " AND name NOT LIKE 'sqlite_%'") == 0);
}

TEST_CASE("migrations are numbered without gaps, run once, and stop whole where one fails") {
  for (size_t i = 0; i < migrations().size(); ++i)
    CHECK(migrations()[i].to_version == static_cast<int32_t>(i) + 1);
  Database database{InMemory{}};
  const Migration good[] = {{1, "CREATE TABLE a (x)"},
                            {2, "CREATE TABLE b (x); INSERT INTO a VALUES (1)"}};
  migrate(database, std::span(good).first(1));
  migrate(database, good);
  migrate(database, good);
  CHECK(database.number("PRAGMA user_version") == 2);
  CHECK(database.number("SELECT count(*) FROM a") == 1);
  const Migration bad[] = {good[0], good[1], {3, "CREATE TABLE c (x); CREATE TABLE c (x)"}};
  CHECK_THROWS_AS(migrate(database, bad), Error);
  CHECK(database.number("PRAGMA user_version") == 2);
  CHECK(database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'c'") == 0);
}

TEST_CASE("the views find what was planted, and nothing else") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("run-1");
  std::vector<SampleRecord> samples = sample_answers(header, 6);
  const auto plant = [&](int32_t cell, int32_t prompt, int32_t choice, const auto& change) {
    for (SampleRecord& s : samples) {
      if (s.cell_index == cell && s.prompt_index == prompt && s.repeat == 0 &&
          s.trace.sample_index == choice)
        change(s.trace);
    }
  };
  plant(1, 0, 0,
        [](Trace& t) { t.positions[4].logprob = std::nextafter(t.positions[4].logprob, 0.0f); });
  plant(1, 1, 1, [](Trace& t) {
    (*t.positions[2].logits_hash)[15] ^= 1;
    t.positions[3].token_id++;
  });
  plant(2, 2, 0, [](Trace& t) {
    t.positions.pop_back();
    t.finish_reason = FinishReason::kStopToken;
  });
  // Evidence that one side lacks is no difference in bits.
  plant(1, 2, 0, [](Trace& t) { t.positions[1].logits_hash.reset(); });
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  store.create_run(header);
  record_all(store, header, samples);

  const auto divergences = rows(store,
                                "SELECT cell, prompt_index, sample_index, first_numeric, "
                                "first_token FROM v_divergence ORDER BY 1, 2");
  REQUIRE(divergences.size() == 3);
  CHECK(divergences[0] == std::vector<Json>{"load.concurrency=16", 2, 0, 5, 5});
  CHECK(divergences[1] == std::vector<Json>{"load.concurrency=8", 0, 0, 4, nullptr});
  CHECK(divergences[2] == std::vector<Json>{"load.concurrency=8", 1, 1, 2, 3});

  const auto axis = rows(
      store,
      "SELECT value, n_cells, n_samples, n_numeric_divergences, n_token_divergences FROM v_axis"
      " WHERE axis = 'load.concurrency' ORDER BY value");
  REQUIRE(axis.size() == 2);
  CHECK(axis[0] == std::vector<Json>{"16", 1, 8, 1, 1});
  CHECK(axis[1] == std::vector<Json>{"8", 1, 4, 2, 1});

  const auto distinct = rows(
      store, "SELECT prompt_index, sample_index, n_samples, n_distinct_outputs FROM v_distinct");
  REQUIRE(distinct.size() == 4);
  for (const auto& row : distinct) {
    const bool changed = (row[0] == 1 && row[1] == 1) || row[0] == 2;
    CHECK(row[2] == 5);
    CHECK(row[3] == (changed ? 2 : 1));
  }
  const auto cells = rows(store,
                          "SELECT cell, reference_cell, exercised, n_samples, n_tokens FROM v_cell "
                          "ORDER BY cell_index");
  REQUIRE(cells.size() == 3);
  CHECK(cells[0] == std::vector<Json>{"reference", "reference", 1, 8, 48});
  CHECK(cells[2] == std::vector<Json>{"load.concurrency=16", "reference", 0, 8, 47});
  CHECK(rows(store, "SELECT * FROM v_sample").size() == samples.size());
}

TEST_CASE("a query may read and nothing else") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  store.create_run(sample_header("run-1"));
  CHECK(rows(store, "SELECT id FROM run;  ")[0][0] == "run-1");
  CHECK(rows(store,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT "
             "sum(i) FROM n")[0][0] == 45);
  const auto values =
      rows(store, "SELECT 1.5, NULL, x'00ff', 'a' || char(233), cast(x'61ff62' AS TEXT), 9e999")[0];
  const std::vector<Json> expected = {1.5,
                                      nullptr,
                                      "x'00ff'",
                                      "a\xc3\xa9",
                                      "a\xff"
                                      "b",
                                      "inf"};
  CHECK((values == expected));  // bytes that are no UTF-8 stay: doctest could not print them
  const QueryResult cut = store.query("SELECT prompt_index AS p FROM request", 2);
  CHECK(cut.columns == std::vector<std::string>{"p"});
  CHECK(cut.rows.size() == 2);
  CHECK(cut.truncated);
  CHECK_FALSE(store.query("SELECT prompt_index FROM request", 3).truncated);
  CHECK_FALSE(rows(store, "PRAGMA table_info(run)").empty());
  for (const char* bad : {"DELETE FROM run",
                          "INSERT INTO run DEFAULT VALUES",
                          "UPDATE run SET id = 'x'",
                          "DROP TABLE run",
                          "CREATE TABLE t (x)",
                          "ATTACH 'other.db' AS o",
                          "PRAGMA user_version = 9",
                          "PRAGMA query_only = OFF",
                          "PRAGMA journal_mode = DELETE",
                          "VACUUM",
                          "BEGIN",
                          "SELECT 1; SELECT 2",
                          "SELECT 1; DELETE FROM run",
                          "",
                          "  -- nothing",
                          "SELEC 1",
                          "SELECT * FROM nowhere",
                          "SELECT load_extension('x')",
                          "REINDEX",
                          "SELECT * FROM pragma_database_list",
                          "EXPLAIN DELETE FROM run"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { store.query(bad, 10); }).code() == ErrorCode::usage);
  }
  CHECK(store.list_runs().size() == 1);
  store.create_run(sample_header("run-2"));  // writing works again after a query
  CHECK(store.list_runs().size() == 2);
}

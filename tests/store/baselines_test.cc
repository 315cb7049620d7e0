// Names for runs, their history, and runs that leave the store.
#include <doctest/doctest.h>

#include "store/database.h"
#include "store/store.h"
#include "tests/store/sample_runs.h"

using namespace isobit;
using namespace isobit::testing;
namespace fs = std::filesystem;

namespace {

void record(Store& store, const std::string& id) {
  const RunRecord header = sample_header(id);
  store.create_run(header);
  record_all(store, header, sample_answers(header, 4));
  store.finish_run(id);
}

Baseline naming(const std::string& name, const std::string& run, const std::string& note = "") {
  return {.name = name,
          .run_id = run,
          .created = "2026-01-02T03:04:05Z",
          .policy = "{\"level\": 1}",
          .note = note};
}

}  // namespace

TEST_CASE("a promoted baseline keeps its earlier versions, and '@' finds each") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  for (const char* id : {"run-a", "run-b", "run-c"}) record(store, id);
  CHECK(store.add_baseline(naming("prod", "run-a", "first")).version == 1);
  CHECK(store.add_baseline(naming("prod", "run-c")).version == 2);
  CHECK(store.add_baseline(naming("staging", "run-b")).version == 1);
  CHECK(store.resolve_ref("@prod") == "run-c");
  CHECK(store.resolve_ref("@prod~0") == "run-c");
  CHECK(store.resolve_ref("@prod~1") == "run-a");
  CHECK(store.resolve_ref("@staging") == "run-b");
  const auto history = store.baseline_history("prod");
  REQUIRE(history.size() == 2);
  CHECK(history[0].version == 2);
  CHECK(history[1].note == "first");
  CHECK(history[1].policy == "{\"level\": 1}");
  CHECK(history[1].created == "2026-01-02T03:04:05Z");
  CHECK(store.list_baselines().size() == 3);
}

TEST_CASE("what an '@' cannot mean is refused, with the nearest name") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  record(store, "run-a");
  CHECK(error_of([&] { store.resolve_ref("@prod"); }).hint().find("baseline set") !=
        std::string::npos);
  store.add_baseline(naming("prod", "run-a"));
  const Error typo = error_of([&] { store.resolve_ref("@prdo"); });
  CHECK(typo.code() == ErrorCode::usage);
  CHECK(typo.message().find("did you mean 'prod'") != std::string::npos);
  for (const char* ref : {"@prod~1", "@prod~x", "@prod~", "@", "@prod~99999999999999999999"}) {
    CAPTURE(ref);
    CHECK(error_of([&] { store.resolve_ref(ref); }).code() == ErrorCode::usage);
  }
  for (const char* name : {"", "a b", "-x", "a/b", "\xff"}) {
    CAPTURE(name);
    CHECK(error_of([&] { store.add_baseline(naming(name, "run-a")); }).code() == ErrorCode::usage);
  }
  CHECK(error_of([&] { store.add_baseline(naming("x", "run-b")); })
            .message()
            .find("did you mean 'run-a'") != std::string::npos);
}

TEST_CASE("one version goes, or the name with all of them; the runs stay") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  for (const char* id : {"run-a", "run-b"}) {
    record(store, id);
    store.add_baseline(naming("prod", id));
  }
  CHECK(error_of([&] { store.remove_baseline("prod", 3); }).message().find("no version 3") !=
        std::string::npos);
  CHECK(store.remove_baseline("prod", 2) == 1);
  CHECK(store.resolve_ref("@prod") == "run-a");
  CHECK(store.add_baseline(naming("prod", "run-b")).version == 2);
  CHECK(store.remove_baseline("prod", std::nullopt) == 2);
  CHECK(store.list_baselines().empty());
  CHECK(store.list_runs().size() == 2);
  CHECK(error_of([&] { store.remove_baseline("prod", std::nullopt); }).code() == ErrorCode::usage);
}

TEST_CASE("a pruned run leaves nothing behind and the file becomes smaller") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  for (int i = 0; i < 40; ++i) record(store, "run-" + std::to_string(100 + i));
  store.save_comparison({.base_run = "run-100",
                         .candidate_run = "run-101",
                         .created = "2026-01-02T03:04:05Z",
                         .level = 1,
                         .verdict = "pass",
                         .document_json = "{}"});
  std::vector<std::string> ids;
  for (int i = 0; i < 39; ++i) ids.push_back("run-" + std::to_string(100 + i));
  const PruneResult result = store.prune_runs(ids, BaselineRuns::kKeep);
  CHECK(result.n_runs == 39);
  CHECK(result.n_samples == 39 * 20);
  CHECK(result.n_comparisons == 1);
  CHECK(result.bytes_after < result.bytes_before);
  store.close();
  Store again = Store::open(folder / "s.db", StoreMode::kRead);
  CHECK(again.check().empty());
  CHECK(static_cast<int64_t>(fs::file_size(folder / "s.db")) == result.bytes_after);
  CHECK_FALSE(fs::exists(folder / "s.db-wal"));
  REQUIRE(again.list_runs().size() == 1);
  CHECK(again.load_run("run-139").samples.size() == 20);
  CHECK(again.list_comparisons().empty());
}

TEST_CASE("a baseline's run is not pruned unless the baseline goes too") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  record(store, "run-a");
  record(store, "run-b");
  store.add_baseline(naming("prod", "run-b"));
  const Error e = error_of([&] { store.prune_runs({"run-a", "run-b"}, BaselineRuns::kKeep); });
  CHECK(e.code() == ErrorCode::usage);
  CHECK(e.message() == "run run-b is version 1 of baseline 'prod'");
  CHECK(store.list_runs().size() == 2);  // neither went
  const PruneResult result = store.prune_runs({"run-b"}, BaselineRuns::kRemove);
  CHECK(result.n_baselines == 1);
  CHECK(store.list_baselines().empty());
  CHECK(store.list_runs().size() == 1);
}

TEST_CASE("a disk that is full leaves baselines as they were") {
  const ScratchFolder folder;
  {
    Store store = Store::open(folder / "s.db", StoreMode::kRecord);
    record(store, "run-a");
    store.add_baseline(naming("prod", "run-a"));
  }
  const auto size = static_cast<int64_t>(fs::file_size(folder / "s.db"));
  Store store = Store::open(folder / "s.db", StoreMode::kRecord, {.max_size_bytes = size});
  Baseline large = naming("prod", "run-a");
  large.policy = std::string(1 << 20, 'x');
  CHECK(error_of([&] { store.add_baseline(large); }).code() == ErrorCode::environment);
  CHECK(store.list_baselines().size() == 1);
  CHECK(store.resolve_ref("@prod") == "run-a");
  CHECK(store.check().empty());
}

TEST_CASE("a row about a run that another process removed says so, and not by SQLite's words") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  record(store, "run-a");
  Database beside(folder / "s.db", DatabaseAccess::kWrite, 0);
  const Error error = error_of([&] {
    beside.execute(
        "INSERT INTO baseline (name, version, run_key, created, policy, note)"
        " VALUES ('prod', 1, 99, '', '', '')");
  });
  CHECK(error.message().find("a run that is not there any more") != std::string::npos);
  CHECK(error.message().find("FOREIGN") == std::string::npos);
}

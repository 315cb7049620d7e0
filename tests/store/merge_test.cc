// Two stores become one, or stay as they were.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "record/run_json.h"
#include "tests/store/sample_runs.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

Store filled(const std::filesystem::path& path, const std::vector<std::string>& ids) {
  Store store = Store::open(path, StoreMode::kRecord);
  for (const std::string& id : ids) {
    const RunRecord run = sample_header(id);
    store.create_run(run);
    record_all(store, run, sample_answers(run, 3));
    store.finish_run(id);
  }
  return store;
}

MergeSource source_of(Store& other) {
  MergeSource source;
  for (const RunSummary& run : other.list_runs()) source.run_ids.push_back(run.id);
  source.load = [&other](const std::string& id) { return other.load_run(id); };
  source.baselines = other.list_baselines();
  source.comparisons = other.list_comparisons();
  return source;
}

Baseline prod(const std::string& run_id, const std::string& created) {
  return {.name = "prod",
          .version = 0,
          .run_id = run_id,
          .created = created,
          .policy = "{}",
          .note = ""};
}

std::string content(Store& store) {
  std::string out;
  for (const RunSummary& run : store.list_runs())
    out += canonical_json(run_sections(store.load_run(run.id))) + "\n";
  for (const Baseline& b : store.list_baselines())
    out += b.name + " " + std::to_string(b.version) + " " + b.run_id + " " + b.policy + "\n";
  for (const SavedComparison& c : store.list_comparisons()) out += c.document_json + "\n";
  return out;
}

}  // namespace

TEST_CASE("a store takes in all of another, and a second time changes nothing") {
  const ScratchFolder folder;
  Store here = filled(folder / "a.db", {"r1"}), there = filled(folder / "b.db", {"r2", "r3"});
  there.add_baseline(prod("r2", "t"));
  there.save_comparison({.base_run = "r2",
                         .candidate_run = "r3",
                         .created = "t",
                         .level = 1,
                         .verdict = "pass",
                         .document_json = "{\"a\":1}"});
  const MergeResult first = here.merge(source_of(there));
  CHECK(first.conflicts.empty());
  CHECK(first.n_runs_added == 2);
  CHECK(first.n_samples_added ==
        2 * static_cast<int64_t>(sample_answers(sample_header("x"), 3).size()));
  CHECK(first.n_baselines_added == 1);
  CHECK(first.n_comparisons_added == 1);
  CHECK(here.check().empty());
  CHECK(here.resolve_ref("latest") == "r3");
  CHECK(here.resolve_ref("@prod") == "r2");
  CHECK(canonical_json(run_sections(here.load_run("r2"))) ==
        canonical_json(run_sections(there.load_run("r2"))));
  const std::string before = content(here);
  const MergeResult second = here.merge(source_of(there));
  CHECK(second.n_runs_added + second.n_runs_continued + second.n_samples_added +
            second.n_baselines_added + second.n_comparisons_added ==
        0);
  CHECK(second.n_runs_there == 2);
  CHECK(content(here) == before);
}

TEST_CASE("one id with two contents is refused with both sides, and nothing else comes in") {
  const ScratchFolder folder;
  Store here = filled(folder / "a.db", {"r1"}), there = filled(folder / "b.db", {"r0", "r1"});
  MergeSource source = source_of(there);
  source.load = [&](const std::string& id) {
    RunRecord run = there.load_run(id);
    if (id == "r1") run.samples[2].trace.text = "planted";
    return run;
  };
  const std::string before = content(here);
  const MergeResult result = here.merge(source);
  REQUIRE(result.conflicts.size() == 1);
  CHECK(result.conflicts[0].subject == "run r1");
  CHECK(result.conflicts[0].differs_in == "samples[2].text");
  CHECK(result.conflicts[0].here == "\"an answer\"");
  CHECK(result.conflicts[0].there == "\"planted\"");
  CHECK(content(here) == before);
}

TEST_CASE("a run goes on where the other store is further, and never back") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("r1");
  const auto answers = sample_answers(header, 3);
  Store part = Store::open(folder / "part.db", StoreMode::kRecord);
  part.create_run(header);
  {
    const auto recorder = part.recorder("r1");
    for (size_t i = 0; i < 5; ++i) recorder->sample(answers[i]);
  }
  part.note_stop("r1", "--max-seconds 1");
  Store whole = filled(folder / "whole.db", {"r1"});
  Store copy = Store::open(folder / "copy.db", StoreMode::kRecord);

  CHECK(copy.merge(source_of(part)).n_runs_added == 1);
  CHECK(copy.load_run("r1").status == "running");
  CHECK(copy.load_run("r1").stop_reason == "--max-seconds 1");
  CHECK(copy.merge(source_of(part)).n_runs_there == 1);
  const MergeResult continued = copy.merge(source_of(whole));
  CHECK(continued.n_runs_continued == 1);
  CHECK(continued.n_samples_added == static_cast<int64_t>(answers.size()) - 5);
  CHECK(content(copy) == content(whole));
  CHECK(copy.merge(source_of(part)).n_runs_there == 1);
  CHECK(content(copy) == content(whole));
  CHECK(copy.check().empty());
}

TEST_CASE("an answer of a part that is another answer is a conflict") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("r1");
  Store part = Store::open(folder / "part.db", StoreMode::kRecord);
  part.create_run(header);
  SampleRecord other = sample_answers(header, 3)[0];
  other.trace.positions[0].token_id++;
  part.recorder("r1")->sample(other);
  Store whole = filled(folder / "whole.db", {"r1"});
  const MergeResult result = whole.merge(source_of(part));
  REQUIRE(result.conflicts.size() == 1);
  CHECK(result.conflicts[0].differs_in == "samples[0].tokens[0]");
}

TEST_CASE("a baseline's version that names something else is a conflict") {
  const ScratchFolder folder;
  Store here = filled(folder / "a.db", {"r1"}), there = filled(folder / "b.db", {"r1", "r2"});
  here.add_baseline(prod("r1", "t"));
  there.add_baseline(prod("r2", "t"));
  there.add_baseline(prod("r1", "u"));
  const MergeResult result = here.merge(source_of(there));
  REQUIRE(result.conflicts.size() == 1);
  CHECK(result.conflicts[0].subject == "baseline prod version 1");
  CHECK(result.conflicts[0].here.find("run r1") != std::string::npos);
  CHECK(result.conflicts[0].there.find("run r2") != std::string::npos);
  CHECK(here.list_runs().size() == 1);
  here.remove_baseline("prod", std::nullopt);
  CHECK(here.merge(source_of(there)).n_baselines_added == 2);
  CHECK(here.resolve_ref("@prod") == "r1");
}

TEST_CASE("a merge that cannot end leaves the store as it was") {
  const ScratchFolder folder;
  Store there = filled(folder / "b.db", {"r1", "r2"});
  {
    Store here = filled(folder / "a.db", {"r0"});
    MergeSource source = source_of(there);
    source.load = [&](const std::string& id) {
      if (id == "r2") throw Error(ErrorCode::environment, "damaged");
      return there.load_run(id);
    };
    CHECK_THROWS_AS(here.merge(source), Error);
    CHECK(here.list_runs().size() == 1);
  }
  Store full = Store::open(
      folder / "a.db", StoreMode::kRecord,
      {.max_size_bytes = static_cast<int64_t>(std::filesystem::file_size(folder / "a.db"))});
  CHECK(error_of([&] { full.merge(source_of(there)); }).code() == ErrorCode::environment);
  CHECK(full.list_runs().size() == 1);
  CHECK(full.check().empty());
}

TEST_CASE("conflicts are found in a store that is only read, and leave its bytes as they are") {
  const ScratchFolder folder;
  filled(folder / "a.db", {"r1"}).close();
  Store there = filled(folder / "b.db", {"r0", "r1"});
  MergeSource source = source_of(there);
  source.load = [&](const std::string& id) {
    RunRecord run = there.load_run(id);
    run.label = "another";
    return run;
  };
  const auto bytes = [&] {
    std::ifstream file(folder / "a.db", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = bytes();
  const auto conflicts = Store::open(folder / "a.db", StoreMode::kRead).merge_conflicts(source);
  REQUIRE(conflicts.size() == 1);
  CHECK(conflicts[0].differs_in == "run.label");
  CHECK(bytes() == before);
  CHECK(Store::open(folder / "a.db", StoreMode::kRead).merge_conflicts(source_of(there)).empty());
}

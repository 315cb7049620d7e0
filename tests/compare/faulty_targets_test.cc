// Faults planted in a target, judged by the whole comparison: each gets its own verdict and kind,
// and a sound target gets none.
#include <doctest/doctest.h>

#include <functional>

#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"
#include "tests/support/fake_target.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr int32_t kPrompts = 8;
constexpr int32_t kTokens = 8;

struct FakeRun {
  std::string axis = "load.concurrency";
  std::string value = "4";
  int32_t concurrency = 4;
  double temperature = 0;
  bool second_cell = true;
};

std::vector<Request> requests(double temperature) {
  std::vector<Request> all;
  for (int32_t p = 0; p < kPrompts; ++p) {
    Request request;
    request.id = "p" + std::to_string(p);
    request.prompt_token_ids = {9, 11 + p};
    request.max_tokens = kTokens;
    request.sampling.temperature = temperature;
    request.sampling.seed = 5;
    all.push_back(request);
  }
  return all;
}

void record_cell(RunRecord& run, FakeTarget& target, int32_t concurrency, const std::string& name,
                 const std::map<std::string, std::string>& values) {
  CellRecord cell;
  cell.index = static_cast<int32_t>(run.cells.size());
  cell.name = name;
  cell.values = values;
  cell.complete = cell.exercised = true;
  run.cells.push_back(cell);
  Workload workload;
  workload.concurrency = concurrency;
  for (const Request& request : run.requests) workload.items.push_back({.request = request});
  target.run(workload, [&](size_t item, Trace trace) {
    run.samples.push_back({.cell_index = cell.index,
                           .prompt_index = static_cast<int32_t>(item),
                           .repeat = 0,
                           .trace = std::move(trace)});
  });
}

// A reference cell of one request at a time, and a cell that differs from it in one axis.
RunRecord record(const FakeFaults& faults, const FakeRun& how = {}) {
  FakeTarget target(faults);
  RunRecord run;
  run.id = "run-a";
  run.status = "complete";
  run.prompts_digest = "dd";
  run.fingerprint = known_fingerprint();
  run.requests = requests(how.temperature);
  record_cell(run, target, 1, "reference", {{how.axis, "default"}});
  if (how.second_cell)
    record_cell(run, target, how.concurrency, how.axis + "=" + how.value, {{how.axis, how.value}});
  return run;
}

RunComparison within(const FakeFaults& faults, const FakeRun& how = {}) {
  return compare_within_run(record(faults, how), {.detail = Detail::kFull});
}

RunComparison sound_against(const FakeFaults& faults, const FakeRun& how = {}) {
  RunRecord candidate = record(faults, how);
  candidate.id = "run-b";
  return compare_runs(record({}, how), candidate, {.detail = Detail::kFull});
}

bool all_of_kind(const RunComparison& comparison, DivergenceKind kind) {
  return comparison.kinds.size() == 1 &&
         comparison.kinds[0].kinds == std::vector<DivergenceKind>{kind};
}

size_t n_shared(const RunComparison& comparison) {
  size_t n = 0;
  for (const CellComparison& cell : comparison.cells) n += cell.shared_suspicions.size();
  return n;
}

}  // namespace

TEST_CASE("a sound target raises no alarm, within a run or between two") {
  for (const RunComparison& comparison :
       {within({}), sound_against({}), within({}, {.temperature = 1}),
        within({}, {.axis = "load.neighbours", .value = "other"})}) {
    CHECK(comparison.totals.bit_matches == comparison.totals.n_pairs);
    CHECK(comparison.totals.n_pairs > 0);
    CHECK(comparison.kinds.empty());
    CHECK(comparison.totals.suspicious_flips == 0);
    CHECK(comparison.flip_law->refusal == "no row drifted");
    CHECK(comparison.cells.back().distinct.empty());
    CHECK(comparison.cells.back().survival.empty());
  }
}

TEST_CASE("answers that change places are suspicious, both requests together at the first token") {
  FakeFaults faults;
  faults.reorder_answers = true;
  // Both cells reorder the same two; only what the second one adds would show. So the reference is
  // a sound run.
  const RunComparison comparison = sound_against(faults, {.second_cell = false});
  CHECK(comparison.totals.token_divergences == 2);
  CHECK(comparison.totals.suspicious_flips == 2);
  REQUIRE(n_shared(comparison) == 1);
  CHECK(comparison.cells[0].shared_suspicions[0].request_ids ==
        std::vector<std::string>{"p0", "p1"});
  CHECK(comparison.cells[0].shared_suspicions[0].first_position == 0);
}

TEST_CASE("a neighbour that leaks into a row is suspicious, and of the batch's composition") {
  FakeFaults faults;
  faults.leak_neighbour = true;
  const RunComparison comparison =
      within(faults, {.axis = "load.neighbours", .value = "other", .concurrency = 4});
  CHECK(comparison.totals.token_divergences > kPrompts / 2);
  CHECK(comparison.totals.suspicious_flips > 0);
  CHECK(n_shared(comparison) > 0);
  CHECK(all_of_kind(comparison, DivergenceKind::kBatchComposition));
  CHECK(all_of_kind(within(faults), DivergenceKind::kBatchSize));
}

TEST_CASE("a dropped token is missing evidence, never the same and never a flip") {
  FakeFaults faults;
  faults.drop_last_token = true;
  const RunComparison comparison = sound_against(faults);
  CHECK(comparison.totals.missing == comparison.totals.n_pairs);
  CHECK(comparison.totals.exact_matches == 0);
  CHECK(comparison.totals.token_divergences == 0);
  CHECK(comparison.cells[0].pairs[0].divergence.has_gap(GapKind::kTruncated));
}

TEST_CASE("logprobs shifted by one ulp are drift, not flips") {
  FakeFaults faults;
  faults.shift_ulp_above_batch = 1;
  const RunComparison comparison = within(faults);
  CHECK(comparison.totals.numeric_divergences == kPrompts);
  CHECK(comparison.totals.token_divergences == 0);
  CHECK(comparison.cells[1].max_drift->ulp == 1);
  CHECK(all_of_kind(comparison, DivergenceKind::kBatchSize));
}

TEST_CASE("a wrong seed draws another token from the same row: sampling") {
  FakeFaults faults;
  faults.wrong_seed = true;
  const RunComparison comparison = sound_against(faults, {.temperature = 1});
  CHECK(comparison.totals.token_divergences == comparison.totals.n_pairs);
  CHECK(comparison.totals.suspicious_flips == 0);
  CHECK(comparison.cells[0].pairs[0].flip == FlipKind::kSampling);
  CHECK(all_of_kind(comparison, DivergenceKind::kSampling));
}

TEST_CASE("truncated evidence supports level 1 and not level 2") {
  FakeFaults faults;
  faults.truncate_evidence = true;
  const RunComparison comparison = sound_against(faults);
  CHECK(comparison.totals.exact_matches == comparison.totals.n_pairs);
  CHECK(comparison.totals.bit_matches == 0);
  CHECK(comparison.totals.unsupported == comparison.totals.n_pairs);
}

TEST_CASE("a stale cache is suspicious, in many requests at once, and of the schedule") {
  FakeFaults faults;
  faults.stale_cache = true;
  const RunComparison comparison =
      within(faults, {.axis = "engine.prefix_cache", .value = "warm", .concurrency = 1});
  CHECK(comparison.totals.token_divergences == kPrompts);
  CHECK(comparison.totals.suspicious_flips > kPrompts / 2);
  REQUIRE(n_shared(comparison) > 0);
  CHECK(comparison.cells[1].shared_suspicions[0].first_position == 0);
  CHECK(all_of_kind(comparison, DivergenceKind::kSchedule));
}

TEST_CASE("a failing request, a lost sample and an unstable target are told apart") {
  FakeFaults error;
  error.error_for = "p3";
  CHECK(sound_against(error).totals.errors == 2);
  FakeFaults lost;
  lost.skip_first_answer = true;
  CHECK(sound_against(lost).totals.missing == 2);
  FakeFaults unstable;
  unstable.unstable_from_run = 1;
  const RunComparison comparison = within(unstable);
  CHECK(comparison.totals.token_divergences == kPrompts);
}

// What a comparison must not depend on: which side is which, the order of rows, how the samples
// were split up. And a thousand clean pairs at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr uint64_t kSeed = 20261201;

// Flips, drifts, ends and gaps at random places of cells 1 and 2.
void disturb(RunRecord& run, std::mt19937_64& random) {
  for (SampleRecord& sample : run.samples) {
    if (sample.cell_index == 0 || random() % 3 != 0) continue;
    Trace& trace = sample.trace;
    const size_t at = random() % trace.positions.size();
    const float margin = static_cast<float>(random() % 2000) / 1000.0f;
    switch (random() % 4) {
      case 0:
        trace.positions[at] =
            position(static_cast<int32_t>(900 + random() % 5), -0.875f, margin, random());
        break;
      case 1:
        trace.positions[at].top[1].logprob += 0.01f;
        trace.positions[at].logprob += 0.001f;
        trace.positions[at].logits_hash = row_hash(random());
        break;
      case 2:
        trace.positions.resize(at);
        trace.finish_reason = FinishReason::kStopToken;
        break;
      default:
        trace.positions[at].logits_hash.reset();
    }
  }
}

RunRecord disturbed_run(std::mt19937_64& random, int32_t n_prompts = 24, int32_t n_repeats = 2) {
  RunRecord run = clean_run(n_prompts, n_repeats);
  for (SampleRecord& sample : run.samples)
    sample.trace.total_ms = 1 + static_cast<double>(random() % 9);
  disturb(run, random);
  return run;
}

void check_same(const PairCounts& a, const PairCounts& b) {
  CHECK(a.n_pairs == b.n_pairs);
  CHECK(a.exact_matches == b.exact_matches);
  CHECK(a.bit_matches == b.bit_matches);
  CHECK(a.numeric_divergences == b.numeric_divergences);
  CHECK(a.token_divergences == b.token_divergences);
  CHECK(a.finish_differences == b.finish_differences);
  CHECK(a.missing == b.missing);
  CHECK(a.unsupported == b.unsupported);
  CHECK(a.suspicious_flips == b.suspicious_flips);
}

void check_same(const RunComparison& a, const RunComparison& b) {
  check_same(a.totals, b.totals);
  CHECK(a.token_match.matches == b.token_match.matches);
  CHECK(a.bit_match.matches == b.bit_match.matches);
  REQUIRE(a.cells.size() == b.cells.size());
  for (size_t c = 0; c < a.cells.size(); ++c) {
    INFO("cell " << a.cells[c].name << ", seed " << kSeed);
    check_same(a.cells[c].counts, b.cells[c].counts);
    CHECK(a.cells[c].token_positions == b.cells[c].token_positions);
    CHECK(a.cells[c].numeric_positions == b.cells[c].numeric_positions);
    CHECK(a.cells[c].distinct_outputs == b.cells[c].distinct_outputs);
    CHECK(a.cells[c].spread.div_indices == b.cells[c].spread.div_indices);
    CHECK(*a.cells[c].spread.std_length == doctest::Approx(*b.cells[c].spread.std_length));
    REQUIRE(a.cells[c].survival.size() == b.cells[c].survival.size());
    if (!a.cells[c].survival.empty())
      CHECK(a.cells[c].survival.back().share_same == b.cells[c].survival.back().share_same);
  }
}

}  // namespace

TEST_CASE("which of two runs is the base changes no count") {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20; ++i) {
    const RunRecord a = disturbed_run(random);
    RunRecord b = disturbed_run(random);
    b.id = "run-b";
    const RunComparison ab = compare_runs(a, b, {.detail = Detail::kFull});
    const RunComparison ba = compare_runs(b, a, {.detail = Detail::kFull});
    check_same(ab, ba);
    CHECK(ab.certificates->two_epsilon_nats.value_or(-1) ==
          doctest::Approx(ba.certificates->two_epsilon_nats.value_or(-1)));
  }
}

TEST_CASE("the order of rows changes nothing") {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20; ++i) {
    RunRecord run = disturbed_run(random);
    const RunComparison before = compare_within_run(run, {.detail = Detail::kFull});
    std::shuffle(run.samples.begin(), run.samples.end(), random);
    std::shuffle(run.forced.begin(), run.forced.end(), random);
    const RunComparison after = compare_within_run(run, {.detail = Detail::kFull});
    check_same(before, after);
    REQUIRE(before.kinds.size() == after.kinds.size());
    for (size_t k = 0; k < before.kinds.size(); ++k) {
      CHECK(before.kinds[k].kinds == after.kinds[k].kinds);
      CHECK(before.kinds[k].token_divergences == after.kinds[k].token_divergences);
    }
    CHECK(before.certificates->certified.matches == after.certificates->certified.matches);
    CHECK(before.flip_law->n_rows == after.flip_law->n_rows);
  }
}

TEST_CASE("samples that were recorded in two halves compare as if they were recorded at once") {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20; ++i) {
    const RunRecord whole = disturbed_run(random);
    RunRecord merged = whole;
    merged.samples.clear();
    for (const size_t half : {1, 0}) {  // the second shard's rows first
      for (size_t s = 0; s < whole.samples.size(); ++s) {
        if (s % 2 == half) merged.samples.push_back(whole.samples[s]);
      }
    }
    check_same(compare_within_run(whole), compare_within_run(merged));
    check_same(compare_runs(whole, merged), compare_runs(merged, whole));
  }
}

TEST_CASE("counts of two shards of prompts add up to the whole run's") {
  std::mt19937_64 random(kSeed);
  const RunRecord whole = disturbed_run(random, 30);
  PairCounts sum;
  for (const int32_t shard : {0, 1}) {
    RunRecord part = whole;
    std::erase_if(part.samples, [&](const SampleRecord& s) { return s.prompt_index % 2 != shard; });
    for (CellRecord& cell : part.cells) cell.complete = false;  // else the rest would be missing
    sum += compare_within_run(part).totals;
  }
  check_same(sum, compare_within_run(whole).totals);
}

TEST_CASE("a thousand clean prompts under two schedules raise no alarm") {
  RunRecord run = clean_run(1000);
  std::mt19937_64 random(kSeed);
  for (SampleRecord& sample : run.samples) {  // what a schedule changes without changing an answer
    sample.trace.scheduling.max_batch_requests = static_cast<int32_t>(random() % 64);
    sample.trace.ttft_ms = 1 + static_cast<double>(random() % 10);
    sample.trace.total_ms = 20 + static_cast<double>(random() % 10);
  }
  const RunComparison comparison = compare_within_run(run, {.detail = Detail::kFull});
  INFO("seed " << kSeed);
  CHECK(comparison.totals.bit_matches == 2000);
  CHECK(comparison.kinds.empty());
  CHECK(comparison.totals.suspicious_flips == 0);
  CHECK(comparison.certificates->certified.matches == 1000);
  CHECK(comparison.certificates->fragile().empty());
  for (const CellComparison& cell : comparison.cells) {
    CHECK(cell.distinct.empty());
    CHECK(cell.survival.empty());
    CHECK(cell.shared_suspicions.empty());
    if (cell.is_reference) continue;  // one answer a prompt has no spread
    CHECK(cell.spread.std_length == 0.0);
    CHECK(cell.spread.std_top1_prob == 0.0);
  }
}

TEST_CASE("a NaN logprob is missing evidence on whichever side, and spoils no figure") {
  for (const int32_t cell : {0, 1}) {
    RunRecord run = clean_run();
    TracePosition& p = trace_of(run, cell, 2).positions[1];
    p.logprob = std::nanf("");
    p.top[0].logprob = std::nanf("");
    const RunComparison comparison = compare_within_run(run, {.detail = Detail::kFull});
    CHECK(comparison.cells[1].pairs[2].divergence.has_gap(GapKind::kNonFinite));
    CHECK(comparison.cells[1].pairs[2].sameness(Level::kBitwise) != Sameness::kSame);
    CHECK(comparison.cells[1].max_drift->nats == 0);
    CHECK(comparison.certificates->two_epsilon_nats == 0.0);  // the rows' hashes are the same
    CHECK(comparison.cells[1].spread.std_top1_prob == 0.0);
  }
}

TEST_CASE("a run that was cut off compares what it has, and the rest is missing") {
  const RunRecord base = clean_run(6);
  RunRecord half = base;
  half.id = "run-b";
  half.status = "running";
  half.samples.resize(10);  // all of the reference cell, four of six in the next, none in the last
  for (size_t c = 1; c < 3; ++c) half.cells[c].complete = false;
  const RunComparison comparison = compare_runs(base, half, {.detail = Detail::kFull});
  CHECK(comparison.candidate.status == "running");
  CHECK(comparison.cells[0].counts.bit_matches == 6);
  CHECK(comparison.cells[1].counts.bit_matches == 4);
  CHECK(comparison.cells[1].counts.missing == 2);
  CHECK(comparison.cells[2].counts.missing == 6);
  CHECK(comparison.kinds.empty());
}

TEST_CASE("runs with nothing in common have no pairs and no figures, and say which prompts") {
  const RunRecord base = clean_run(2);
  RunRecord other = clean_run(2);
  other.id = "run-b";
  for (Request& request : other.requests) request.id = "q" + request.id;
  const RunComparison comparison = compare_runs(base, other, {.detail = Detail::kFull});
  CHECK(comparison.totals.n_pairs == 0);
  CHECK(comparison.prompts_only_in_base == std::vector<std::string>{"p0", "p1"});
  CHECK(comparison.prompts_only_in_candidate == std::vector<std::string>{"qp0", "qp1"});
  CHECK(comparison.certificates->certified.trials == 0);
  CHECK_FALSE(comparison.flip_law->law);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

const CellComparison& cell_named(const RunComparison& comparison, const std::string& name) {
  for (const CellComparison& cell : comparison.cells) {
    if (cell.name == name) return cell;
  }
  throw std::logic_error("no cell " + name);
}

void flip(Trace& trace, size_t at, float margin) {
  trace.positions[at] = position(trace.positions[at].token_id + 1, -0.875f, margin, 4711);
}

void drift(Trace& trace, size_t at, float nats) {
  trace.positions[at].logprob -= nats;
  trace.positions[at].logits_hash = row_hash(4712);
}

// Adds a second group: a reference cell and one schedule cell under another kernel set, with other
// answers throughout.
void add_kernel_set_group(RunRecord& run) {
  for (CellRecord& cell : run.cells) cell.values["engine.kernel_set"] = "cpu";
  for (int32_t c : {3, 4}) {
    CellRecord cell = run.cells[c == 3 ? 0 : 1];
    cell.index = c;
    cell.reference_index = 3;
    cell.name = c == 3 ? "engine.kernel_set=cpu-adaptive"
                       : "engine.kernel_set=cpu-adaptive,load.concurrency=8";
    cell.values["engine.kernel_set"] = "cpu-adaptive";
    run.cells.push_back(cell);
    for (size_t p = 0; p < run.requests.size(); ++p) {
      SampleRecord sample{.cell_index = c,
                          .prompt_index = static_cast<int32_t>(p),
                          .repeat = 0,
                          .trace = trace_of(run, 0, static_cast<int32_t>(p))};
      flip(sample.trace, 3, 0.25f);
      run.samples.push_back(sample);
    }
  }
}

}  // namespace

TEST_CASE("a clean run has no divergence in any cell") {
  const RunComparison comparison = compare_within_run(clean_run());
  CHECK(comparison.kind == ComparisonKind::kWithinRun);
  REQUIRE(comparison.cells.size() == 3);
  CHECK(comparison.cells[0].is_reference);
  CHECK(comparison.cells[0].n_samples == 4);
  CHECK(comparison.cells[0].counts.n_pairs ==
        0);  // one repeat: nothing to compare the reference with
  for (size_t c : {1, 2}) {
    const CellComparison& cell = comparison.cells[c];
    CHECK(cell.counts.n_pairs == 4);
    CHECK(cell.counts.exact_matches == 4);
    CHECK(cell.counts.bit_matches == 4);
    CHECK(cell.counts.numeric_divergences == 0);
    CHECK(cell.counts.token_divergences == 0);
    CHECK(cell.distinct_outputs == 1);
    CHECK(cell.token_match.trials == 4);
  }
  CHECK(comparison.totals.n_pairs == 8);
  CHECK(comparison.token_match.trials == 4);
  CHECK(comparison.unsampled_requests.empty());
}

TEST_CASE("a flip and a drift are counted in their own cell, by hand") {
  RunRecord run = clean_run();
  flip(trace_of(run, 1, 2), 1, 0.0625f);
  flip(trace_of(run, 1, 0), 3, 0.125f);
  drift(trace_of(run, 2, 3), 0, 0.03125f);
  const RunComparison comparison = compare_within_run(run);
  const CellComparison& eight = cell_named(comparison, "load.concurrency=8");
  CHECK(eight.counts.n_pairs == 4);
  CHECK(eight.counts.exact_matches == 2);
  CHECK(eight.counts.bit_matches == 2);
  CHECK(eight.counts.token_divergences == 2);
  CHECK(eight.counts.numeric_divergences == 2);  // each flip comes with another row
  CHECK(eight.token_positions == std::vector<int32_t>{1, 3});
  CHECK(eight.flip_margins == std::vector<float>{0.25f, 0.25f});
  CHECK(eight.distinct_outputs == 2);
  CHECK(eight.token_match.matches == 2);
  CHECK(eight.token_match.trials == 4);
  const CellComparison& thirty_two = cell_named(comparison, "load.concurrency=32");
  CHECK(thirty_two.counts.exact_matches == 4);
  CHECK(thirty_two.counts.bit_matches == 3);
  CHECK(thirty_two.counts.numeric_divergences == 1);
  CHECK(thirty_two.counts.token_divergences == 0);
  CHECK(thirty_two.numeric_positions == std::vector<int32_t>{0});
  CHECK(thirty_two.max_drift->nats == 0.03125);
  CHECK(comparison.totals.token_divergences == 2);
  CHECK(comparison.token_match.matches == 2);  // prompts 1 and 3 keep their tokens in every cell
  CHECK(comparison.bit_match.matches == 1);    // only prompt 1 keeps its bits
}

TEST_CASE("the axis summary adds up the cells that have a value") {
  RunRecord run = clean_run();
  flip(trace_of(run, 1, 2), 1, 0.0625f);
  const RunComparison comparison = compare_within_run(run);
  REQUIRE(comparison.axes.size() == 1);
  const AxisSummary& axis = comparison.axes[0];
  CHECK(axis.axis == "load.concurrency");
  CHECK_FALSE(axis.is_identity);
  REQUIRE(axis.values.size() == 3);
  CHECK(axis.values[0].value == "1");
  CHECK(axis.values[0].n_cells == 0);  // the reference cell is compared with nothing
  CHECK(axis.values[1].value == "8");
  CHECK(axis.values[1].counts.token_divergences == 1);
  CHECK(axis.values[1].token_match.matches == 3);
  CHECK(axis.values[2].counts.exact_matches == 4);
}

TEST_CASE("the order of rows in the record changes nothing") {
  RunRecord run = clean_run(6, 2);
  flip(trace_of(run, 1, 2, 1), 1, 0.0625f);
  drift(trace_of(run, 2, 3), 0, 0.03125f);
  const RunComparison expected = compare_within_run(run);
  std::mt19937_64 random(7);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(run.samples.begin(), run.samples.end(), random);
    std::shuffle(run.cells.begin(), run.cells.end(), random);
    const RunComparison shuffled = compare_within_run(run);
    REQUIRE(shuffled.cells.size() == expected.cells.size());
    for (size_t c = 0; c < expected.cells.size(); ++c) {
      const CellComparison& a = expected.cells[c];
      const CellComparison& b = shuffled.cells[c];
      REQUIRE(a.name == b.name);
      REQUIRE(a.pairs.size() == b.pairs.size());
      for (size_t p = 0; p < a.pairs.size(); ++p) {
        REQUIRE(a.pairs[p].prompt_index == b.pairs[p].prompt_index);
        REQUIRE(a.pairs[p].repeat == b.pairs[p].repeat);
        REQUIRE(a.pairs[p].sameness(Level::kBitwise) == b.pairs[p].sameness(Level::kBitwise));
      }
      REQUIRE(a.counts.token_divergences == b.counts.token_divergences);
      REQUIRE(a.numeric_positions == b.numeric_positions);
    }
    REQUIRE(shuffled.axes[0].values[1].value == expected.axes[0].values[1].value);
  }
}

TEST_CASE("repeats of the reference against its first are the noise") {
  RunRecord run = clean_run(4, 3);
  drift(trace_of(run, 0, 1, 2), 2, 0.0078125f);
  const RunComparison comparison = compare_within_run(run);
  const CellComparison& reference = cell_named(comparison, "reference");
  CHECK(reference.n_samples == 12);
  CHECK(reference.counts.n_pairs == 8);
  CHECK(reference.counts.numeric_divergences == 1);
  CHECK(comparison.noise.numeric_divergences == 1);
  CHECK(comparison.noise_drift->nats == 0.0078125);
}

TEST_CASE("repeats are paired with the same repeat, and noise widens what counts as a tie") {
  RunRecord run = clean_run(4, 2);
  drift(trace_of(run, 0, 1, 1), 2, 0.25f);
  drift(trace_of(run, 1, 1, 1), 2,
        0.25f);  // the same second answer in the cell: no divergence of the cell
  flip(trace_of(run, 2, 0), 1, 0.25f);  // margins 0.25: within twice the noise of 0.25
  const RunComparison comparison = compare_within_run(run);
  CHECK(cell_named(comparison, "load.concurrency=8").counts.numeric_divergences == 0);
  const CellComparison& cell = cell_named(comparison, "load.concurrency=32");
  const auto pair = std::find_if(cell.pairs.begin(), cell.pairs.end(),
                                 [](const PairComparison& p) { return p.flip.has_value(); });
  REQUIRE(pair != cell.pairs.end());
  CHECK(pair->flip == FlipKind::kTie);
}

TEST_CASE(
    "a sample that is gone is missing in its cell, or for every cell when the reference lost it") {
  RunRecord run = clean_run();
  std::erase_if(run.samples,
                [](const SampleRecord& s) { return s.cell_index == 1 && s.prompt_index == 2; });
  RunComparison comparison = compare_within_run(run);
  CHECK(cell_named(comparison, "load.concurrency=8").counts.missing == 1);
  CHECK(cell_named(comparison, "load.concurrency=8").counts.exact_matches == 3);
  CHECK(cell_named(comparison, "load.concurrency=8").token_match.trials == 3);
  CHECK(cell_named(comparison, "load.concurrency=32").counts.missing == 0);

  run = clean_run();
  std::erase_if(run.samples,
                [](const SampleRecord& s) { return s.cell_index == 0 && s.prompt_index == 2; });
  comparison = compare_within_run(run);
  for (const CellComparison& cell : comparison.cells) CHECK(cell.counts.missing == 1);
}

TEST_CASE("a repeat or a choice that one cell lost is missing") {
  RunRecord run = clean_run(4, 2);
  std::erase_if(run.samples,
                [](const SampleRecord& s) { return s.cell_index == 1 && s.repeat == 1; });
  CHECK(cell_named(compare_within_run(run), "load.concurrency=8").counts.missing == 4);

  run = clean_run();
  run.requests[0].sampling.n = 2;  // two choices were asked for, one is recorded
  const RunComparison comparison = compare_within_run(run);
  CHECK(cell_named(comparison, "load.concurrency=8").counts.missing == 1);
  CHECK(cell_named(comparison, "load.concurrency=8").counts.n_pairs == 5);
}

TEST_CASE("a request that no cell sampled is named") {
  RunRecord run = clean_run();
  std::erase_if(run.samples, [](const SampleRecord& s) { return s.prompt_index == 3; });
  CHECK(compare_within_run(run).unsampled_requests == std::vector<std::string>{"p3"});
}

TEST_CASE("errors are counted apart from what is missing") {
  RunRecord run = clean_run();
  trace_of(run, 1, 0).finish_reason = FinishReason::kError;
  trace_of(run, 1, 1).positions.pop_back();
  const RunComparison comparison = compare_within_run(run);
  const CellComparison& cell = cell_named(comparison, "load.concurrency=8");
  CHECK(cell.counts.errors == 1);
  CHECK(cell.counts.missing == 1);
  CHECK(cell.counts.exact_matches == 2);
  CHECK(cell.token_match.trials == 2);
}

TEST_CASE("an answer shorter than asked for is truncated even when the reference's is too") {
  RunRecord run = clean_run();
  trace_of(run, 0, 1).positions.pop_back();
  trace_of(run, 1, 1).positions.pop_back();
  CHECK(cell_named(compare_within_run(run), "load.concurrency=8").counts.missing == 1);
  for (CellRecord& cell : run.cells)
    cell.values["output.length"] = "3";  // this is what was asked for
  CHECK(cell_named(compare_within_run(run), "load.concurrency=8").counts.missing == 0);
  for (CellRecord& cell : run.cells)
    cell.values["output.length"] = "long";  // only the target knows
  CHECK(cell_named(compare_within_run(run), "load.concurrency=8").counts.missing == 0);
}

TEST_CASE(
    "cells of another group are compared with their own reference, and the groups are `changed by` "
    "the axis") {
  RunRecord run = clean_run();
  add_kernel_set_group(run);
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.totals.token_divergences == 0);
  CHECK(
      cell_named(comparison, "engine.kernel_set=cpu-adaptive,load.concurrency=8").reference_name ==
      "engine.kernel_set=cpu-adaptive");
  REQUIRE(comparison.group_changes.size() == 1);
  const GroupChange& change = comparison.group_changes[0];
  CHECK(change.from_cell == "reference");
  CHECK(change.to_cell == "engine.kernel_set=cpu-adaptive");
  REQUIRE(change.changed.size() == 1);
  CHECK(change.changed[0].axis == "engine.kernel_set");
  CHECK(change.changed[0].to == "cpu-adaptive");
  CHECK(change.n_pairs == 4);
  CHECK(change.n_other_tokens == 4);
  CHECK(change.n_same_tokens == 0);
  const auto axis =
      std::find_if(comparison.axes.begin(), comparison.axes.end(),
                   [](const AxisSummary& a) { return a.axis == "engine.kernel_set"; });
  REQUIRE(axis != comparison.axes.end());
  CHECK(axis->is_identity);
}

TEST_CASE("a shorter output.length is compared with the prefix of the longer one") {
  RunRecord run = clean_run();
  add_kernel_set_group(run);
  for (CellRecord& cell : run.cells) {
    cell.values.erase("engine.kernel_set");
    cell.values["output.length"] = cell.reference_index == 3 ? "3" : "as-given";
  }
  for (SampleRecord& s : run.samples) {
    if (s.cell_index >= 3) s.trace.positions.resize(3);  // the flip at position 3 is cut off
  }
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.group_changes[0].n_same_tokens == 4);
  CHECK(comparison.group_changes[0].n_same_bits == 4);
  CHECK(comparison.totals.missing == 0);
}

TEST_CASE("a cell keeps the reason why it was not exercised") {
  RunRecord run = clean_run();
  run.cells[2].exercised = false;
  run.cells[2].not_exercised_reason = "achieved batch 7 of 32";
  const RunComparison comparison = compare_within_run(run);
  CHECK(cell_named(comparison, "load.concurrency=8").exercised);
  CHECK_FALSE(cell_named(comparison, "load.concurrency=32").exercised);
  CHECK(cell_named(comparison, "load.concurrency=32").not_exercised_reason ==
        "achieved batch 7 of 32");
  run.cells[0].exercised = false;
  CHECK_FALSE(cell_named(compare_within_run(run), "load.concurrency=8").exercised);
}

TEST_CASE("a record that contradicts itself is refused") {
  RunRecord run = clean_run();
  run.samples.push_back(run.samples[0]);
  CHECK_THROWS_AS(compare_within_run(run), Error);
  run = clean_run();
  run.samples[0].prompt_index = 99;
  CHECK_THROWS_AS(compare_within_run(run), Error);
  run = clean_run();
  run.samples[0].cell_index = 99;
  CHECK_THROWS_AS(compare_within_run(run), Error);
  run = clean_run();
  run.cells[1].reference_index = 99;
  CHECK_THROWS_AS(compare_within_run(run), Error);
  run = clean_run();
  run.cells[1].index = 0;
  CHECK_THROWS_AS(compare_within_run(run), Error);
}

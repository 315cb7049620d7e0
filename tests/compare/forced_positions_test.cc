// What counts after a flip: the candidate's rows over the reference's tokens. All numbers by hand.
#include <doctest/doctest.h>

#include "base/error.h"
#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

// {1,2,3,4} against {1,9,...}: the second token flips, and the rows after it can only be compared
// by forcing.
struct Flipped {
  Trace reference = answer({1, 2, 3, 4});
  Trace candidate = answer({1, 9, 8, 7});
  std::vector<TracePosition> forced = reference.positions;
  Flipped() {
    candidate.positions[1].logits_hash = row_hash(1);
    forced[2].logprob -= 0.25f;  // one nat quarter of drift at position 2
    forced[2].top[0].logprob -= 0.25f;
    forced[2].logits_hash = row_hash(2);
    forced[3].top[0].token_id = 77;  // at position 3 another token is the most likely
    forced[3].logits_hash = row_hash(3);
  }
  Divergence compare() const { return compare_samples(reference, candidate, {.forced = forced}); }
};

ForcedRecord forced_record(int32_t cell, int32_t prompt, std::vector<TracePosition> positions,
                           std::string over_run = {}) {
  return {.cell_index = cell,
          .prompt_index = prompt,
          .repeat = 0,
          .sample_index = 0,
          .over_run = std::move(over_run),
          .positions = std::move(positions)};
}

// Cell 1 flips prompt 0 at position 1.
RunRecord run_with_a_flip() {
  RunRecord run = clean_run();
  trace_of(run, 1, 0).positions[1] = position(21, -0.875f, 0.01f, 777);
  return run;
}

}  // namespace

TEST_CASE("without forcing nothing after the flip counts") {
  const Flipped flipped;
  const Divergence d = compare_samples(flipped.reference, flipped.candidate);
  CHECK(d.n_compared == 2);
  CHECK(d.n_not_compared == 2);
  CHECK(d.n_forced == 0);
  CHECK(d.n_numeric_differences == 1);
  CHECK_FALSE(d.max_drift_forced);
  CHECK_FALSE(d.top_agreement_after);
}

TEST_CASE("forced rows after the flip count as compared, with their drift and argmax flips") {
  const Divergence d = Flipped().compare();
  CHECK(d.token->position == 1);
  CHECK(d.n_compared == 4);
  CHECK(d.n_forced == 2);
  CHECK(d.n_not_compared == 0);
  CHECK(d.n_numeric_differences == 3);  // the flip's own row, and positions 2 and 3
  CHECK(d.n_argmax_flips == 2);         // at the flip and at position 3
  CHECK(d.max_drift->nats == 0);        // only position 0 lies before the flip
  CHECK(d.max_drift_forced->nats == 0.25);
  CHECK(d.max_drift_forced->nats_position == 2);
  CHECK(d.top_agreement_after == 0.75);  // both of two tokens at 2, one of two at 3
  // At the flip the lists share no token: both margins of 0.25. At position 2 it is 0.25.
  CHECK(d.max_gap_drift->nats == 0.5);
  CHECK(d.max_gap_drift->position == 1);
}

TEST_CASE("rows over another answer are not evidence about this one") {
  Flipped flipped;
  flipped.forced[0].token_id = 5;
  const Divergence d = flipped.compare();
  CHECK(d.n_compared == 2);
  CHECK(d.n_forced == 0);
}

TEST_CASE("forced rows that end early leave the rest not compared") {
  Flipped flipped;
  flipped.forced.resize(3);
  const Divergence d = flipped.compare();
  CHECK(d.n_forced == 1);
  CHECK(d.n_not_compared == 1);
}

TEST_CASE("where the candidate stopped early, forcing starts at the position it lacks") {
  const Trace reference = answer({1, 2, 3});
  const Trace candidate = answer({1}, FinishReason::kStopToken);
  const Divergence d = compare_samples(reference, candidate, {.forced = reference.positions});
  CHECK(d.token->position == 1);
  CHECK(d.n_compared == 3);
  CHECK(d.n_forced == 2);
  CHECK(d.n_not_compared == 0);
  CHECK(d.n_numeric_differences == 0);
}

TEST_CASE("within a run, a cell's forced rows over its reference cell are used") {
  RunRecord run = run_with_a_flip();
  run.forced.push_back(forced_record(1, 0, trace_of(run, 0, 0).positions));
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.cells[1].n_forced_positions == 2);
  CHECK(comparison.cells[1].top_agreement_after == 1.0);
  CHECK(comparison.cells[1].pairs[0].divergence.n_not_compared == 0);
  run.forced[0].over_run = "run-b";  // over another run's answers: of no use within this one
  CHECK(compare_within_run(run).cells[1].n_forced_positions == 0);
}

TEST_CASE("between runs, only rows over the base run's answers are used") {
  const RunRecord base = clean_run();
  RunRecord candidate = run_with_a_flip();
  candidate.id = "run-b";
  candidate.forced.push_back(forced_record(1, 0, trace_of(candidate, 0, 0).positions, "run-a"));
  CHECK(compare_runs(base, candidate).cells[1].n_forced_positions == 2);
  candidate.forced[0].over_run.clear();
  CHECK(compare_runs(base, candidate).cells[1].n_forced_positions == 0);
}

TEST_CASE("forced rows of no cell or no request, or two of one kind, are refused") {
  RunRecord run = run_with_a_flip();
  run.forced.push_back(forced_record(9, 0, {}));
  CHECK_THROWS_WITH_AS(compare_within_run(run),
                       "run run-a: a forced answer of cell 9, which the run does not have", Error);
  run.forced = {forced_record(1, 99, {})};
  CHECK_THROWS_WITH_AS(compare_within_run(run),
                       "run run-a: a forced answer of request 99, but the run has 4 requests",
                       Error);
  run.forced = {forced_record(1, 0, {}), forced_record(1, 1, {}), forced_record(1, 0, {})};
  CHECK_THROWS_WITH_AS(compare_within_run(run),
                       "run run-a: two forced answers of cell 1, request 0, choice 0, repeat 0",
                       Error);
}

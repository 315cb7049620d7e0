// Figures of a cell, worked out by hand: survival, spread, distinct outputs, price, percentiles.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "compare/answers.h"
#include "compare/margins.h"
#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

// Choices that keep their traces.
struct Choices {
  std::vector<std::vector<Trace>> traces;
  std::vector<std::vector<const Trace*>> pointers = {};
  std::vector<ChoiceAnswers> all() {
    pointers.clear();
    for (const auto& prompt : traces) {
      auto& list = pointers.emplace_back();
      for (const Trace& trace : prompt) list.push_back(&trace);
    }
    std::vector<ChoiceAnswers> choices;
    for (const auto& list : pointers) choices.push_back({.answers = list});
    return choices;
  }
};

void set_top1_probability(Trace& trace, size_t at, double probability) {
  trace.positions[at].top[0].logprob = static_cast<float>(std::log(probability));
}

CellRecord cell_with_throughput(double tokens_per_s) {
  CellRecord cell;
  cell.generated_tokens_per_s = tokens_per_s;
  return cell;
}

std::vector<Trace> answers_taking(const std::vector<double>& total_ms) {
  std::vector<Trace> traces;
  for (const double ms : total_ms) {
    traces.push_back(answer({1}));
    traces.back().ttft_ms = ms / 2;
    traces.back().total_ms = ms;
  }
  return traces;
}

CellPrice price(const std::vector<Trace>& traces, double tokens_per_s = 100) {
  std::vector<const Trace*> pointers;
  for (const Trace& trace : traces) pointers.push_back(&trace);
  return price_of(cell_with_throughput(tokens_per_s), pointers);
}

}  // namespace

TEST_CASE("the survival curve is Kaplan and Meier's") {
  // Six pairs: splits at 1, 3, 3; ends without a split after 2, 4 and 4 positions.
  // At 1: 6 at risk, 1 splits: 5/6. At 3: the one that ended after 2 has left, 4 at risk, 2 split:
  // 5/6 * 1/2 = 5/12.
  const auto curve =
      survival_curve({{3, true}, {4, false}, {1, true}, {2, false}, {3, true}, {4, false}});
  REQUIRE(curve.size() == 2);
  CHECK(curve[0].position == 1);
  CHECK(curve[0].n_at_risk == 6);
  CHECK(curve[0].n_splits == 1);
  CHECK(curve[0].share_same == doctest::Approx(5.0 / 6));
  CHECK(curve[1].position == 3);
  CHECK(curve[1].n_at_risk == 4);
  CHECK(curve[1].n_splits == 2);
  CHECK(curve[1].share_same == doctest::Approx(5.0 / 12));
  // Greenwood's sum at 3: 1/(6*5) + 2/(4*2) = 17/60; sqrt = 0.532291. log(5/12) = -0.875469.
  // Half width on the log-log scale: 1.959964 * 0.532291 / 0.875469 = 1.191667.
  // (5/12)^exp(1.191667) = exp(-0.875469 * 3.292565) = 0.055996; the other end exp(-0.875469 *
  // 0.303714) = 0.766517.
  CHECK(curve[1].interval95.low == doctest::Approx(0.055996).epsilon(1e-4));
  CHECK(curve[1].interval95.high == doctest::Approx(0.766517).epsilon(1e-4));
}

TEST_CASE("an answer that ends where another splits was not at risk there") {
  const auto curve = survival_curve({{2, true}, {2, false}});
  REQUIRE(curve.size() == 1);
  CHECK(curve[0].n_at_risk == 1);
  CHECK(curve[0].share_same == 0);
  CHECK(curve[0].interval95.high == 0);
}

TEST_CASE("where nothing splits there is no curve") {
  CHECK(survival_curve({{4, false}, {4, false}}).empty());
  CHECK(survival_curve({}).empty());
}

TEST_CASE("lengths, split positions and probabilities spread as the LayerCast paper defines it") {
  Choices choices;
  // Prompt 0: lengths 4, 4, 1; common prefix 1. Sample deviation of (4,4,1): mean 3, squares
  // 1+1+4 = 6, 6/2 = 3, sqrt(3).
  // Prompt 1: two answers, the same tokens: no split, deviation 0.
  choices.traces = {{answer({1, 2, 3, 4}), answer({1, 2, 3, 4}), answer({1})},
                    {answer({7, 8}), answer({7, 8})}};
  // Position 0 of prompt 0: 0.5, 0.6, 0.7: sample deviation 0.1. Prompt 1: position 0 the same,
  // position 1: 0.2 and 0.4: 0.1 * sqrt(2); the mean over the two positions is half of that.
  const double probabilities[] = {0.5, 0.6, 0.7};
  for (size_t i = 0; i < 3; ++i) set_top1_probability(choices.traces[0][i], 0, probabilities[i]);
  set_top1_probability(choices.traces[1][0], 1, 0.2);
  set_top1_probability(choices.traces[1][1], 1, 0.4);
  const AnswerSpread spread = answer_spread(choices.all());
  CHECK(spread.n_prompts == 2);
  CHECK(*spread.std_length == doctest::Approx(std::sqrt(3.0) / 2));
  CHECK(spread.div_indices == std::vector<int32_t>{1});
  CHECK(spread.mean_div_index == 1.0);
  CHECK(*spread.std_top1_prob ==
        doctest::Approx((0.1 + 0.1 * std::sqrt(2.0) / 2) / 2).epsilon(1e-6));
}

TEST_CASE("a target without logprobs has no deviation of probabilities, and one answer no spread") {
  Choices choices;
  choices.traces = {{tokens_only(answer({1, 2})), tokens_only(answer({1, 3}))}, {answer({5})}};
  const AnswerSpread spread = answer_spread(choices.all());
  CHECK(spread.n_prompts == 1);
  CHECK_FALSE(spread.std_top1_prob);
  CHECK(spread.div_indices == std::vector<int32_t>{1});
}

TEST_CASE("distinct outputs count answers, sequences, the commonest one, and the first split") {
  // Five answers: A A B C A, where B leaves A at position 2 and C at position 1: 3 distinct, the
  // commonest 3 times, the first split at 1.
  Choices choices;
  choices.traces = {{answer({1, 2, 3}), answer({1, 2, 3}), answer({1, 2, 9}), answer({1, 5, 3}),
                     answer({1, 2, 3})}};
  const auto found = distinct_outputs(choices.all()[0].answers);
  REQUIRE(found);
  CHECK(found->n_answers == 5);
  CHECK(found->n_distinct == 3);
  CHECK(found->n_most_common == 3);
  CHECK(found->first_split == 1);
}

TEST_CASE("an answer that goes on where another ended is another output, split at the end") {
  Choices choices;
  choices.traces = {{answer({1, 2}), answer({1, 2, 3})}};
  CHECK(distinct_outputs(choices.all()[0].answers)->first_split == 2);
  choices.traces = {{answer({1, 2}), answer({1, 2})}};
  CHECK_FALSE(distinct_outputs(choices.all()[0].answers));
}

TEST_CASE(
    "a cell names the prompts that got several outputs, most first, the reference's included") {
  RunRecord run = clean_run(3, 3);
  for (const int32_t repeat : {0, 1, 2}) {
    trace_of(run, 1, 2, repeat).positions[1].token_id = 50 + repeat;
  }
  trace_of(run, 1, 1, 2).positions[3].token_id = 60;
  const RunComparison comparison = compare_within_run(run);
  const CellComparison& cell = comparison.cells[1];
  CHECK(cell.distinct_outputs == 4);
  REQUIRE(cell.distinct.size() == 2);
  CHECK(cell.distinct[0].request_id == "p2");
  CHECK(cell.distinct[0].n_answers == 6);  // three repeats on each side
  CHECK(cell.distinct[0].n_distinct == 4);
  CHECK(cell.distinct[0].n_most_common == 3);
  CHECK(cell.distinct[0].first_split == 1);
  CHECK(cell.distinct[1].request_id == "p1");
  CHECK(cell.distinct[1].n_distinct == 2);
  CHECK(comparison.cells[0].distinct.empty());
  CHECK(comparison.cells[0].distinct_outputs == 1);
}

TEST_CASE("percentiles are nearest-rank") {
  std::vector<double> ms;
  for (int i = 100; i >= 1; --i) ms.push_back(i);
  const CellPrice hundred = price(answers_taking(ms));
  CHECK(hundred.n_timed == 100);
  CHECK(hundred.latency_ms->p50 == 50);
  CHECK(hundred.latency_ms->p95 == 95);
  CHECK(hundred.latency_ms->p99 == 99);
  CHECK(hundred.latency_ms->mean == 50.5);
  CHECK(hundred.ttft_ms->p50 == 25);
  const CellPrice four = price(answers_taking({4, 1, 3, 2}));
  CHECK(four.latency_ms->p50 == 2);
  CHECK(four.latency_ms->p95 == 4);
  CHECK(four.latency_ms->p99 == 4);
}

TEST_CASE("a clock that jumps is counted and left out") {
  std::vector<Trace> traces = answers_taking({10, -3, 20, 5, 8, 7});
  traces[3].total_ms = std::numeric_limits<double>::quiet_NaN();
  traces[4].ttft_ms = std::numeric_limits<double>::infinity();
  traces[5].ttft_ms = 9;  // later than the end
  const CellPrice found = price(traces);
  CHECK(found.n_clock_jumps == 4);
  CHECK(found.n_timed == 2);
  CHECK(found.latency_ms->mean == 15);
}

TEST_CASE("times that were not recorded are absent, not zero") {
  const CellPrice found = price(answers_taking({0, 0}), 0);
  CHECK(found.n_timed == 0);
  CHECK(found.n_clock_jumps == 0);
  CHECK_FALSE(found.ttft_ms);
  CHECK_FALSE(found.latency_ms);
  CHECK_FALSE(found.tokens_per_s);
  CHECK_FALSE(price_ratio(found, price(answers_taking({4}))).latency_p50);
}

TEST_CASE("the price is also told beside the reference's") {
  const PriceRatio ratio =
      price_ratio(price(answers_taking({10, 20}), 50), price(answers_taking({30, 40}), 200));
  CHECK(ratio.tokens_per_s == 4);
  CHECK(ratio.latency_p50 == 3);
  CHECK(ratio.latency_p95 == 2);
  CHECK(ratio.ttft_p50 == 3);
}

TEST_CASE("a flip's margins are placed among the reference's own") {
  // Sixteen reference margins of 0.25, but for one of 0.125 and one of 0.0625. The flip's row on
  // the reference's side is the 0.125: two of sixteen are no larger, 12.5 %.
  RunRecord run = clean_run();
  trace_of(run, 0, 0).positions[1].margin = 0.125f;
  trace_of(run, 0, 3).positions[0].margin = 0.0625f;
  trace_of(run, 1, 0).positions[1] = position(21, -0.875f, 0.01f, 777);
  const RunComparison comparison = compare_within_run(run);
  const TokenDivergence& flip = *comparison.cells[1].pairs[0].divergence.token;
  CHECK(flip.reference_margin == 0.125f);
  CHECK(flip.reference_margin_percentile == 12.5);
  CHECK(flip.candidate_margin_percentile == 0.0);  // narrower than any of the reference's
}

TEST_CASE("a run's groups are described over all their cells") {
  RunRecord run = clean_run();
  trace_of(run, 1, 0).positions.resize(2);
  trace_of(run, 2, 0).positions[1].token_id = 99;
  const RunComparison comparison = compare_within_run(run);
  REQUIRE(comparison.group_spreads.size() == 1);
  const AnswerSpread& spread = comparison.group_spreads[0].spread;
  CHECK(comparison.group_spreads[0].reference_name == "reference");
  CHECK(spread.n_prompts == 4);
  // Lengths of prompt 0: 4, 2, 4: sample deviation 2/sqrt(3); the other three prompts 0.
  CHECK(*spread.std_length == doctest::Approx(2 / std::sqrt(3.0) / 4));
  CHECK(spread.div_indices == std::vector<int32_t>{1});
}

// Certificates and suspicious flips, by hand.
#include "compare/certificates.h"

#include <doctest/doctest.h>

#include <cmath>

#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

RunComparison full(const RunRecord& run) {
  return compare_within_run(run, {.detail = Detail::kFull});
}

const PromptMargin& of_prompt(const Certificates& certificates, int32_t prompt) {
  for (const PromptMargin& p : certificates.prompts) {
    if (p.prompt_index == prompt) return p;
  }
  throw std::logic_error("no such prompt");
}

// The second listed token of prompt 0's position 2 in cell 1 gains `nats` on the first.
void let_gap_drift(RunRecord& run, float nats) {
  TracePosition& p = trace_of(run, 1, 0).positions[2];
  p.top[1].logprob += nats;
  p.logits_hash = row_hash(31);
}

void flip(RunRecord& run, int32_t cell, int32_t prompt, size_t at, float margin) {
  Trace& trace = trace_of(run, cell, prompt);
  trace.positions[at] = position(trace.positions[at].token_id + 500, -0.875f, margin, 4711 + at);
}

}  // namespace

TEST_CASE("a prompt is certified where every margin exceeds the largest gap drift seen") {
  RunRecord run = clean_run();
  let_gap_drift(run, 0.125f);
  trace_of(run, 0, 2).positions[1].margin = 0.125f;   // just the drift: not above it
  trace_of(run, 0, 3).positions[3].margin = 0.0625f;  // below
  const Certificates found = *full(run).certificates;
  CHECK(found.two_epsilon_nats == 0.125);
  CHECK(found.cell == "load.concurrency=8");
  CHECK(found.request_id == "p0");
  CHECK(found.position == 2);
  CHECK(found.n_rows == 2 * 4 * 4);  // two cells, four prompts, four positions
  CHECK(found.certified.matches == 2);
  CHECK(found.certified.trials == 4);
  CHECK(of_prompt(found, 0).certified);
  CHECK(of_prompt(found, 0).least_margin_nats == 0.25);
  CHECK_FALSE(of_prompt(found, 2).certified);
  CHECK(of_prompt(found, 2).position == 1);
  CHECK(found.prompts.front().prompt_index == 3);  // the narrowest first
  const auto fragile = found.fragile();
  REQUIRE(fragile.size() == 2);
  CHECK(fragile[0]->request_id == "p3");
  CHECK(fragile[1]->request_id == "p2");
}

TEST_CASE("a shift of the whole row is no gap drift: no argmax sees it") {
  RunRecord run = clean_run();
  TracePosition& p = trace_of(run, 1, 0).positions[2];
  for (TokenScore& score : p.top) score.logprob -= 0.5f;
  p.logprob -= 0.5f;
  p.logits_hash = row_hash(31);
  const RunComparison comparison = full(run);
  CHECK(comparison.cells[1].counts.numeric_divergences == 1);
  CHECK(comparison.cells[1].max_drift->nats == 0.5);
  CHECK(comparison.certificates->two_epsilon_nats == 0.0);
  CHECK(comparison.certificates->certified.matches == 4);
}

TEST_CASE(
    "without any drift every prompt above 0 is certified, and a tie is fragile all the same") {
  RunRecord run = clean_run();
  trace_of(run, 0, 1).positions[0].margin = 5e-5f;
  trace_of(run, 0, 2).positions[0].margin = 0.0f;
  const Certificates found = *full(run).certificates;
  CHECK(found.two_epsilon_nats == 0.0);
  CHECK(found.certified.matches == 3);
  CHECK(of_prompt(found, 1).certified);
  CHECK(of_prompt(found, 1).within_noise);
  CHECK_FALSE(of_prompt(found, 2).certified);
  CHECK(found.fragile().size() == 2);
}

TEST_CASE("what a certificate cannot rest on is said") {
  RunRecord run = clean_run();
  for (SampleRecord& sample : run.samples) sample.trace = tokens_only(sample.trace);
  Certificates found = *full(run).certificates;
  CHECK(found.refusal == "no compared row lists two tokens on both sides, so no drift is known");
  CHECK(found.certified.trials == 0);
  CHECK(found.n_without_margins == 4);
  run = clean_run();
  for (Request& request : run.requests) request.sampling.temperature = 0.7;
  found = *full(run).certificates;
  CHECK(found.refusal == "no greedy answer has its margins recorded");
  CHECK(found.n_not_greedy == 4);
}

TEST_CASE("a flip between rows that list no token in common moved by both margins at least") {
  RunRecord run = clean_run();
  flip(run, 1, 0, 1, 3.0f);  // a margin of 0.25 became one of 3 for a token from far below
  const RunComparison comparison = full(run);
  CHECK(comparison.cells[1].max_gap_drift->nats == 3.25);
  CHECK(comparison.certificates->two_epsilon_nats == 3.25);
  CHECK(comparison.certificates->certified.matches == 0);
}

TEST_CASE("a row that moved by an amount its lists do not show leaves nothing certified") {
  RunRecord run = clean_run();
  TracePosition& p = trace_of(run, 1, 0).positions[2];
  p.logits_hash = row_hash(31);
  p.top.resize(1);
  const Certificates found = *full(run).certificates;
  CHECK(found.refusal == "a row moved by more than its top lists can show");
  CHECK(found.certified.trials == 0);
  CHECK(found.request_id == "p0");
}

TEST_CASE("a NaN margin is no margin") {
  RunRecord run = clean_run();
  trace_of(run, 0, 1).positions[2].margin = std::nanf("");
  const Certificates found = *full(run).certificates;
  CHECK(found.n_without_margins == 1);
  CHECK(found.certified.trials == 3);
}

TEST_CASE("a verdict costs neither law nor certificates nor texts") {
  const RunComparison comparison = compare_within_run(clean_run());
  CHECK_FALSE(comparison.certificates);
  CHECK_FALSE(comparison.flip_law);
  CHECK_FALSE(comparison.cells[1].pairs[0].agreement);
}

TEST_CASE("the law of a run is fitted over its own rows, each with its prompt") {
  // Sixty prompts: in cell 1 prompts 0 to 14 flip at position 1 over a gap that was narrower than
  // the drift; everything else drifts by less than its margin.
  RunRecord run = clean_run(60);
  for (int32_t p = 0; p < 60; ++p) {
    TracePosition& reference = trace_of(run, 0, p).positions[1];
    reference.margin = p < 15 ? 0.001f : 0.25f;
    TracePosition& row = trace_of(run, 1, p).positions[1];
    row.logits_hash = row_hash(static_cast<uint64_t>(p) + 5000);
    row.top[1].logprob += 0.002f;
    if (p < 15) std::swap(row.top[0], row.top[1]);
    row.token_id = row.top[0].token_id;
  }
  const RunComparison comparison = full(run);
  REQUIRE(comparison.flip_law);
  CHECK(comparison.flip_law->n_rows == 60);
  CHECK(comparison.flip_law->n_flips == 15);
  CHECK(comparison.flip_law->n_prompts == 60);
  CHECK(comparison.flip_law->n_prompts_with_flips == 15);
  // Rows that did not move: four positions of the other cell, and of cell 1 position 0 everywhere
  // and 2 and 3 of the 45 prompts that went on.
  CHECK(comparison.flip_law->n_without_drift == 240 + 60 + 90);
  REQUIRE(comparison.flip_law->law);
  CHECK(comparison.flip_law->law->slope.value < 0);
  CHECK(comparison.flip_law->law->median_drift_nats == doctest::Approx(0.002).epsilon(1e-3));
}

TEST_CASE("suspicious flips of several requests around one step point at shared state") {
  RunRecord run = clean_run(6);
  flip(run, 1, 0, 1, 3.0f);
  flip(run, 1, 2, 1, 2.0f);
  flip(run, 1, 4, 3, 5.0f);  // two positions later: still together
  flip(run, 2, 1, 2, 4.0f);  // alone in its cell
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.cells[1].counts.suspicious_flips == 3);
  REQUIRE(comparison.cells[1].shared_suspicions.size() == 1);
  const SharedSuspicion& together = comparison.cells[1].shared_suspicions[0];
  CHECK(together.first_position == 1);
  CHECK(together.last_position == 3);
  CHECK(together.request_ids == std::vector<std::string>{"p0", "p2", "p4"});
  CHECK(comparison.cells[2].counts.suspicious_flips == 1);
  CHECK(comparison.cells[2].shared_suspicions.empty());
  CHECK(comparison.totals.suspicious_flips == 4);
}

TEST_CASE("narrow flips together, wide ones far apart and repeats of one request are not shared") {
  RunRecord run = clean_run(6, 2);
  flip(run, 1, 0, 1, 0.2f);
  flip(run, 1, 1, 1, 0.2f);
  flip(run, 2, 0, 0, 3.0f);
  flip(run, 2, 1, 3, 3.0f);
  Trace& again = trace_of(run, 2, 0, 1);  // the same request in another repeat
  again.positions[0] = position(510, -0.875f, 3.0f, 4711);
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.cells[1].counts.suspicious_flips == 0);
  CHECK(comparison.cells[1].shared_suspicions.empty());
  CHECK(comparison.cells[2].counts.suspicious_flips == 3);
  CHECK(comparison.cells[2].shared_suspicions.empty());
}

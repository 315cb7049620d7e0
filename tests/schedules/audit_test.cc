// The audit proved end to end (numeric contract section 8): the same plan, runner, target and
// comparison that `isobit run` uses, over the built-in engine with a planted fault. Every fault
// must show as divergences in the cells that provoke it and as bits or tokens as its kind says; the
// engine without a fault must show none.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "checkpoint/open.h"
#include "compare/run_comparison.h"
#include "kernels/registry.h"
#include "matrix/runner.h"
#include "targets/builtin_target.h"
#include "tests/schedules/random_schedule.h"
#include "tests/support/faulty_kernel_set.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr const char* kCompany = "load.concurrency=4";
constexpr const char* kMixed = "load.concurrency=4,load.batch_shape=mixed";
constexpr const char* kThreads = "engine.threads=2";
constexpr const char* kChunks = "engine.chunked_prefill=17";

const Checkpoint& checkpoint() {
  static const auto bundled = open_checkpoint(ISOBIT_SOURCE_DIR "/examples/tiny-kjv");
  return *bundled;
}

// Eight prompts of 40 to 145 tokens; every other one is sampled.
std::vector<Request> prompts() {
  Dice dice(3);
  std::vector<Request> out;
  for (int i = 0; i < 8; ++i) {
    Request& r = out.emplace_back();
    r.id = "prompt-" + std::to_string(i);
    for (int t = 0; t < 40 + 15 * i; ++t)
      r.prompt_token_ids.push_back(static_cast<int32_t>(dice.below(1021)));
    r.max_tokens = 8;
    r.stop.ignore_eos = true;
    if (i % 2) r.sampling = {.temperature = 1, .logit_bias = {}, .seed = dice.bits()};
  }
  return out;
}

std::vector<int32_t> neighbour_tokens(int32_t n_tokens, uint64_t seed) {
  Dice dice(seed);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n_tokens; ++i) ids.push_back(static_cast<int32_t>(dice.below(1021)));
  return ids;
}

Plan plan() {
  PlanSpec spec;
  spec.design = Design::kOneAtATime;
  const std::vector<std::string> axes = {kCompany, kChunks, "load.batch_shape=uniform,mixed",
                                         kThreads};
  apply_axis_flags(spec, axes, {});
  return make_plan(spec);
}

class RecordSink : public RunSink {
 public:
  explicit RecordSink(RunRecord& run) : run_(run) {}
  void begin_cell(const CellRecord&) override {}
  Landing sample(const SampleRecord& sample) override {
    run_.samples.push_back(sample);
    return Landing::kStored;
  }
  void forced(const ForcedRecord& forced) override { run_.forced.push_back(forced); }
  void end_cell(const CellRecord& cell) override {
    run_.cells[static_cast<size_t>(cell.index)] = cell;
  }

 private:
  RunRecord& run_;
};

RunComparison audit(BuiltinSeams seams) {
  BuiltinTarget target(checkpoint(), std::vector<std::string>(static_cast<size_t>(1021), "x"), {},
                       std::move(seams));
  const Plan cells = plan();
  RunRecord run;
  run.requests = prompts();
  run.prompt_texts.resize(run.requests.size());
  run.cells = cells.cells;
  run.status = "complete";
  RecordSink sink(run);
  RunOptions options;
  options.requests = run.requests;
  options.neighbour_tokens = neighbour_tokens;
  options.now_ms = [now = 0.0]() mutable { return now += 1; };
  const RunOutcome outcome = run_plan(cells, target, sink, options);
  CHECK(outcome.n_cells_done == cells.cells.size());
  CHECK(outcome.n_not_exercised == 0);
  std::sort(run.samples.begin(), run.samples.end(), [](const auto& a, const auto& b) {
    return std::tie(a.cell_index, a.prompt_index) < std::tie(b.cell_index, b.prompt_index);
  });
  return compare_within_run(run);
}

RunComparison audit_of(PlantedFault fault) {
  FaultyKernelSet faulty(fault, kernel_set("cpu"), 2, checkpoint().config().n_layers);
  return audit({.find_kernels = [&](const std::string&, const std::string&) -> const KernelSet& {
                  return faulty.set();
                },
                .before_run = [&](EngineOptions&) { faulty.begin_run(); }});
}

std::set<std::string> diverging_cells(const RunComparison& comparison) {
  std::set<std::string> names;
  for (const CellComparison& cell : comparison.cells) {
    if (cell.counts.numeric_divergences + cell.counts.token_divergences > 0)
      names.insert(cell.name);
  }
  return names;
}

void check_found_in(const RunComparison& comparison, const char* cell) {
  const std::set<std::string> found = diverging_cells(comparison);
  std::string all;
  for (const std::string& name : found) all += name + "; ";
  INFO("divergences in: ", all);
  CHECK(found.count(cell) == 1);
  CHECK(found.count("reference") == 0);
  CHECK(found.count(kThreads) == 0);
  CHECK(comparison.totals.numeric_divergences > 0);
}

}  // namespace

TEST_CASE("the audit finds nothing in the engine, wrapped or not") {
  for (const RunComparison& comparison : {audit({}), audit_of(PlantedFault::kNone)}) {
    CHECK(comparison.totals.n_pairs == 8 * 4);
    CHECK(comparison.totals.bit_matches == comparison.totals.n_pairs);
    CHECK(diverging_cells(comparison).empty());
  }
}

TEST_CASE("the audit finds a reordered reduction where steps have other rows") {
  const RunComparison comparison = audit_of(PlantedFault::kReorderedReduction);
  check_found_in(comparison, kCompany);
  check_found_in(comparison, kChunks);
}

TEST_CASE("the audit finds a sum that is cut by the number of rows where steps have few or many") {
  const RunComparison comparison = audit_of(PlantedFault::kSplitByRows);
  check_found_in(comparison, kMixed);
  check_found_in(comparison, kChunks);
}

TEST_CASE("the audit finds an attention that is cut by the number of sequences, in company only") {
  const RunComparison comparison = audit_of(PlantedFault::kSplitBySequences);
  check_found_in(comparison, kCompany);
  CHECK(diverging_cells(comparison).count(kChunks) == 0);
}

TEST_CASE("the audit finds a stale KV block") {
  const RunComparison comparison = audit_of(PlantedFault::kStaleKvBlock);
  CHECK(comparison.totals.numeric_divergences > 0);
  CHECK(diverging_cells(comparison).count(kCompany) == 1);
}

TEST_CASE("the audit finds one flipped ulp in company") {
  check_found_in(audit_of(PlantedFault::kFlippedUlp), kCompany);
}

TEST_CASE("the audit tells a shared random stream from other logits") {
  int64_t n_drawn = 0;
  const RunComparison comparison = audit({.before_run = [&](EngineOptions& options) {
    n_drawn = 0;
    options.draw_point = [&](const SamplePoint& own) {
      return SamplePoint{.seed = 0, .position = n_drawn++, .sample_index = own.sample_index};
    };
  }});
  CHECK(diverging_cells(comparison).count(kCompany) == 1);
  int64_t n_of_sampler = 0;
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs) {
      if (!pair.divergence.token) continue;
      CHECK(pair.divergence.token->same_row == true);
      CHECK_FALSE(pair.divergence.numeric);
      CHECK(pair.prompt_index % 2 == 1);
      ++n_of_sampler;
    }
  }
  CHECK(n_of_sampler > 0);
}

// Which kind a divergence is said to be of, and where the cells cannot tell.
#include "compare/attribution.h"

#include <doctest/doctest.h>

#include <functional>

#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

using Kinds = std::vector<DivergenceKind>;

// A run of four prompts whose cells differ from the reference in the values given, "" for the
// reference's own.
RunRecord run_of(const std::vector<std::map<std::string, std::string>>& cells,
                 int32_t n_repeats = 1) {
  RunRecord run = clean_run(4, n_repeats);
  const std::vector<SampleRecord> reference_samples(run.samples.begin(),
                                                    run.samples.begin() + 4 * n_repeats);
  run.cells.resize(1);
  run.samples = reference_samples;
  run.cells[0].values = {{"load.concurrency", "1"}, {"engine.chunked_prefill", "off"}};
  for (const auto& values : cells) {
    CellRecord cell = run.cells[0];
    cell.index = static_cast<int32_t>(run.cells.size());
    cell.name = "cell" + std::to_string(cell.index);
    for (const auto& [axis, value] : values) cell.values[axis] = value;
    run.cells.push_back(cell);
    for (SampleRecord sample : reference_samples) {
      sample.cell_index = cell.index;
      run.samples.push_back(sample);
    }
  }
  return run;
}

void flip(RunRecord& run, int32_t cell, int32_t prompt, int32_t repeat = 0) {
  trace_of(run, cell, prompt, repeat).positions[1] = position(99, -0.875f, 0.01f, 777);
}

const std::map<std::string, std::string> kEight = {{"load.concurrency", "8"}};
const std::map<std::string, std::string> kChunked = {{"engine.chunked_prefill", "16"}};
const std::map<std::string, std::string> kBoth = {{"load.concurrency", "8"},
                                                  {"engine.chunked_prefill", "16"}};

Kinds kinds_in_cell(const RunRecord& run, size_t cell, size_t pair = 0) {
  return compare_within_run(run).cells.at(cell).pairs.at(pair).kinds;
}

}  // namespace

TEST_CASE("every axis stands for a kind, and an unknown one for the environment") {
  CHECK(kind_of_axis("load.position") == DivergenceKind::kBatchPosition);
  CHECK(kind_of_axis("load.neighbours") == DivergenceKind::kBatchComposition);
  CHECK(kind_of_axis("load.batch_shape") == DivergenceKind::kBatchComposition);
  CHECK(kind_of_axis("load.concurrency") == DivergenceKind::kBatchSize);
  CHECK(kind_of_axis("load.arrival") == DivergenceKind::kSchedule);
  CHECK(kind_of_axis("engine.chunked_prefill") == DivergenceKind::kSchedule);
  CHECK(kind_of_axis("engine.prefix_cache") == DivergenceKind::kSchedule);
  CHECK(kind_of_axis("engine.speculation") == DivergenceKind::kSchedule);
  CHECK(kind_of_axis("engine.preemption") == DivergenceKind::kSchedule);
  CHECK(kind_of_axis("hw.tensor_parallel") == DivergenceKind::kParallelism);
  CHECK(kind_of_axis("engine.threads") == DivergenceKind::kParallelism);
  CHECK(kind_of_axis("state.restart") == DivergenceKind::kRestart);
  CHECK(kind_of_axis("engine.isa") == DivergenceKind::kEnvironment);
  CHECK(kind_of_axis("sampling.rng") == DivergenceKind::kSampling);
  CHECK(kind_of_axis("vendor.flag") == DivergenceKind::kEnvironment);
}

TEST_CASE("a cell that differs in one axis decides") {
  RunRecord run = run_of({kEight});
  flip(run, 1, 0);
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.cells[1].pairs[0].kinds == Kinds{DivergenceKind::kBatchSize});
  CHECK(comparison.cells[1].pairs[1].kinds.empty());  // nothing diverges there
  CHECK(comparison.cells[1].attribution.reason == "only load.concurrency differs");
  REQUIRE(comparison.kinds.size() == 1);
  CHECK(comparison.kinds[0].token_divergences == 1);
  CHECK(comparison.kinds[0].numeric_divergences == 1);
}

TEST_CASE("several axes of one kind need no other cell") {
  RunRecord run = run_of({{{"load.neighbours", "other"}, {"load.batch_shape", "ragged"}}});
  flip(run, 1, 0);
  CHECK(kinds_in_cell(run, 1) == Kinds{DivergenceKind::kBatchComposition});
}

TEST_CASE("a cell that differs in two axes is settled by the cells that vary each alone") {
  RunRecord run = run_of({kEight, kChunked, kBoth});
  flip(run, 1, 2);
  flip(run, 3, 0);
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.cells[3].pairs[0].kinds == Kinds{DivergenceKind::kBatchSize});
  CHECK(comparison.cells[3].attribution.reason ==
        "load.concurrency diverges alone, engine.chunked_prefill does not");
}

TEST_CASE("where both diverge alone it is not decided between them") {
  RunRecord run = run_of({kEight, kChunked, kBoth});
  for (const int32_t cell : {1, 2, 3}) flip(run, cell, 0);
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.cells[3].pairs[0].kinds ==
        Kinds{DivergenceKind::kBatchSize, DivergenceKind::kSchedule});
  CHECK(kinds_text(comparison.cells[3].pairs[0].kinds) == "not decided: batch_size or schedule");
  CHECK(comparison.cells[3].attribution.reason ==
        "engine.chunked_prefill and load.concurrency each diverge alone");
  CHECK(comparison.kinds.size() == 3);  // two decided cells, one not
}

TEST_CASE("where neither diverges alone it takes both") {
  RunRecord run = run_of({kEight, kChunked, kBoth});
  flip(run, 3, 0);
  const RunComparison comparison = compare_within_run(run);
  CHECK_FALSE(comparison.cells[3].attribution.decided());
  CHECK(comparison.cells[3].attribution.reason ==
        "only together: engine.chunked_prefill with load.concurrency");
}

TEST_CASE("a cell that is missing, not exercised or incomplete clears nothing") {
  const auto reason = [](RunRecord run, const std::function<void(RunRecord&)>& spoil) {
    flip(run, static_cast<int32_t>(run.cells.size()) - 1, 0);
    spoil(run);
    const RunComparison comparison = compare_within_run(run);
    CHECK_FALSE(comparison.cells.back().attribution.decided());
    return comparison.cells.back().attribution.reason;
  };
  CHECK(reason(run_of({kEight, kBoth}), [](RunRecord&) {}) ==
        "no usable cell varies engine.chunked_prefill alone");
  CHECK(reason(run_of({kEight, kChunked, kBoth}), [](RunRecord& run) {
          run.cells[2].exercised = false;
        }) == "no usable cell varies engine.chunked_prefill alone");
  CHECK(reason(run_of({kEight, kChunked, kBoth}), [](RunRecord& run) {
          run.cells[1].complete = run.cells[2].complete = false;
        }) == "no usable cell varies engine.chunked_prefill or load.concurrency alone");
}

TEST_CASE("where the reference's repeats differ it is run-to-run first") {
  RunRecord run = run_of({kEight}, 2);
  flip(run, 0, 0, 1);  // the reference's second repeat of prompt 0
  flip(run, 1, 0, 0);
  flip(run, 1, 1, 0);
  const RunComparison comparison = compare_within_run(run);
  CHECK(comparison.noisy_prompts == std::vector<int32_t>{0});
  CHECK(comparison.cells[0].pairs[0].kinds == Kinds{DivergenceKind::kRunToRun});
  CHECK(comparison.cells[1].pairs[0].kinds == Kinds{DivergenceKind::kRunToRun});
  // Prompt 1 was steady, but run-to-run differences exist: not ruled out.
  CHECK(comparison.cells[1].pairs[2].kinds ==
        Kinds{DivergenceKind::kRunToRun, DivergenceKind::kBatchSize});
}

TEST_CASE("another token over the same row is the sampler's, whatever the cell changed") {
  RunRecord run = run_of({kEight});
  trace_of(run, 1, 0).positions[1].token_id = 21;  // the row's hash stays
  CHECK(kinds_in_cell(run, 1) == Kinds{DivergenceKind::kSampling});
}

TEST_CASE("between runs the fingerprint is the environment, its scheduler items the schedule") {
  const RunRecord base = run_of({kEight});
  RunRecord candidate = base;
  candidate.id = "run-b";
  flip(candidate, 1, 0);
  CHECK(compare_runs(base, candidate).cells[1].pairs[0].kinds == Kinds{DivergenceKind::kRunToRun});
  candidate.fingerprint.items.push_back(item(FingerprintClass::kSoftware, "openblas", "0.3.26"));
  RunComparison comparison = compare_runs(base, candidate);
  CHECK(comparison.cells[1].pairs[0].kinds == Kinds{DivergenceKind::kEnvironment});
  CHECK(comparison.cells[1].attribution.reason == "software.openblas changed");
  candidate.fingerprint.items.push_back(
      item(FingerprintClass::kScheduler, "chunked_prefill", "16"));
  comparison = compare_runs(base, candidate);
  CHECK(comparison.cells[1].pairs[0].kinds ==
        Kinds{DivergenceKind::kSchedule, DivergenceKind::kEnvironment});
  CHECK(comparison.cells[1].attribution.reason ==
        "software.openblas and scheduler.chunked_prefill changed");
}

TEST_CASE("between runs a changed axis counts with the fingerprint") {
  const RunRecord base = run_of({kEight});
  RunRecord candidate = base;
  candidate.id = "run-b";
  for (CellRecord& cell : candidate.cells) cell.values["engine.threads"] = "1";
  flip(candidate, 1, 0);
  const RunComparison comparison = compare_runs(base, candidate);
  CHECK(comparison.cells[1].pairs[0].kinds == Kinds{DivergenceKind::kParallelism});
  CHECK(comparison.cells[1].attribution.reason == "engine.threads changed");
}

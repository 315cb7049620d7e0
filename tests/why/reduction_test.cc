// reduce ends at a minimal case for each planted fault, and at none where there is none.
#include "why/reduction.h"

#include <doctest/doctest.h>

#include "kernels/registry.h"
#include "tests/report/schema_check.h"
#include "tests/support/fake_target.h"
#include "tests/support/faulty_kernel_set.h"
#include "tests/why/recorded_audit.h"
#include "why/why_json.h"
#include "why/why_text.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr int64_t kFaultyLayer = 2;

DivergingCase case_of(const RunRecord& run, const SampleAddress& address, Target& target) {
  const TrafficSource source = traffic_source(target);
  SampleAddress reference = address;
  reference.cell_index = cell_at(run, address.cell_index).reference_index;
  return {.execution = recorded_execution(run, address, source),
          .alone_settings = recorded_execution(run, reference, source).workload.settings};
}

// The first sample of the cell that differs from the request alone.
std::optional<DivergingCase> first_case(const RunRecord& run, int32_t cell, Target& target) {
  for (int32_t p = 0; p < static_cast<int32_t>(run.requests.size()); ++p) {
    DivergingCase c = case_of(run, {.cell_index = cell, .key = {.prompt_index = p}}, target);
    if (case_diverges(answers_of_case(target, c), Level::kBitwise)) return c;
  }
  return std::nullopt;
}

struct FaultyEngine {
  explicit FaultyEngine(PlantedFault fault)
      : kernels(fault, kernel_set("cpu"), kFaultyLayer, bundled_checkpoint().config().n_layers),
        target(bundled_target({.find_kernels = [this](const std::string&, const std::string&)
                                   -> const KernelSet& { return kernels.set(); },
                               .before_run = [this](EngineOptions&) { kernels.begin_run(); }})) {}
  FaultyKernelSet kernels;
  BuiltinTarget target;
};

Reduction reduction_of(FaultyEngine& engine, int32_t cell,
                       const char* company = "load.concurrency=4") {
  const RunRecord run =
      recorded(engine.target, plan_of({company, "engine.chunked_prefill=17"}), drawn_prompts());
  const auto start = first_case(run, cell, engine.target);
  REQUIRE(start);
  const auto found = reduce(watched(engine.target), *start);
  REQUIRE(found);
  INFO(reduction_text(*found));
  CHECK(found->one_minimal);
  CHECK(found->repeatable);
  CHECK(case_diverges(answers_of_case(engine.target, found->smallest), Level::kBitwise));
  for (const std::string& error :
       SchemaCheck("why.schema.json").errors(reduction_json(*found, "4f2a/1/p")))
    FAIL_CHECK(error);
  return *found;
}

// Nothing can go: single deletions, made here again, lose the difference (of long prompts, some
// tokens of each).
void check_one_minimal(Target& target, const DivergingCase& smallest) {
  const auto still = [&](const DivergingCase& c) {
    return case_diverges(answers_of_case(target, c), Level::kBitwise);
  };
  const auto& items = smallest.execution.workload.items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != smallest.execution.item) {
      DivergingCase less = smallest;
      less.execution.workload.items.erase(less.execution.workload.items.begin() +
                                          static_cast<ptrdiff_t>(i));
      if (i < smallest.execution.item) less.execution.item--;
      CHECK_FALSE(still(less));
    }
    const std::vector<int32_t>& ids = items[i].request.prompt_token_ids;
    const size_t every = 1 + ids.size() / 16;
    for (size_t t = 0; t < ids.size() && ids.size() > 1; t += every) {
      DivergingCase less = smallest;
      auto& cut = less.execution.workload.items[i].request.prompt_token_ids;
      cut.erase(cut.begin() + static_cast<ptrdiff_t>(t));
      CHECK_FALSE(still(less));
    }
    if (items[i].request.max_tokens > 1) {
      DivergingCase less = smallest;
      less.execution.workload.items[i].request.max_tokens--;
      CHECK_FALSE(still(less));
    }
  }
  if (smallest.execution.workload.concurrency > 1) {
    DivergingCase less = smallest;
    less.execution.workload.concurrency--;
    CHECK_FALSE(still(less));
  }
}

}  // namespace

TEST_CASE("a reordered reduction needs one neighbour") {
  FaultyEngine engine(PlantedFault::kReorderedReduction);
  const Reduction r = reduction_of(engine, 1);
  CHECK(r.guilty.size() == 1);
  CHECK(r.after.concurrency == 2);
  CHECK(r.after.n_prompt_tokens + r.after.n_neighbour_tokens < 6);
  REQUIRE(r.first);
  CHECK(r.first->op == Operator::kDown);
  CHECK(r.first->layer == kFaultyLayer);
  check_one_minimal(engine.target, r.smallest);
}

TEST_CASE("a sum cut by the number of rows needs as many rows as the cut") {
  FaultyEngine engine(PlantedFault::kSplitByRows);
  const Reduction r = reduction_of(engine, 1, "load.concurrency=10");  // decode in more than 8 rows
  CHECK(r.guilty.size() >= 1);
  CHECK(r.after.n_neighbours < r.before.n_neighbours);
  REQUIRE(r.first);
  CHECK(r.first->op == Operator::kAttentionOut);
  check_one_minimal(engine.target, r.smallest);
}

TEST_CASE("an attention cut by the number of sequences needs one neighbour and a long context") {
  FaultyEngine engine(PlantedFault::kSplitBySequences);
  const Reduction r = reduction_of(engine, 1);
  CHECK(r.guilty.size() == 1);
  CHECK(r.after.n_neighbour_tokens == 1);
  CHECK(r.after.n_prompt_tokens + r.after.max_tokens > 1);
  REQUIRE(r.first);
  CHECK(r.first->op == Operator::kAttention);
  check_one_minimal(engine.target, r.smallest);
}

TEST_CASE("a stale KV block needs somebody who used the block before") {
  FaultyEngine engine(PlantedFault::kStaleKvBlock);
  const Reduction r = reduction_of(engine, 1);
  CHECK(r.guilty.size() >= 1);
  CHECK(r.guilty[0].before_request);
  REQUIRE(r.first);
  CHECK(r.first->op == Operator::kKvWrite);
  check_one_minimal(engine.target, r.smallest);
}

TEST_CASE("one flipped ulp needs more than two rows") {
  FaultyEngine engine(PlantedFault::kFlippedUlp);
  const Reduction r = reduction_of(engine, 1);
  REQUIRE(r.first);
  CHECK(r.first->op == Operator::kDown);
  check_one_minimal(engine.target, r.smallest);
}

TEST_CASE("a chunk size that is guilty is named, and no neighbour is") {
  FaultyEngine engine(PlantedFault::kSplitByRows);
  const Reduction r = reduction_of(engine, 2);
  CHECK(r.guilty.empty());
  CHECK(r.settings == std::vector<std::string>{"engine.chunked_prefill=17"});
  CHECK(reduction_text(r).find("no neighbour is needed") != std::string::npos);
}

TEST_CASE("the same sample ends at the same case") {
  FaultyEngine engine(PlantedFault::kReorderedReduction);
  const Json a = reduction_json(reduction_of(engine, 1), ""),
             b = reduction_json(reduction_of(engine, 1), "");
  CHECK(a.dump() == b.dump());
}

TEST_CASE("a request that answers as it does alone cannot be reduced") {
  BuiltinTarget target = bundled_target();
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), drawn_prompts(4));
  const DivergingCase c = case_of(run, {.cell_index = 1, .key = {.prompt_index = 2}}, target);
  CHECK_FALSE(reduce(watched(target), c));
}

TEST_CASE("with tokens asked for, a difference in bits alone is none") {
  FakeTarget target({.shift_ulp_above_batch = 2});
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), drawn_prompts(6));
  const DivergingCase c = case_of(run, {.cell_index = 1, .key = {.prompt_index = 2}}, target);
  CHECK(reduce({.target = &target}, c));
  CHECK_FALSE(reduce({.target = &target}, c, {.level = Level::kRequestReproducible}));
}

TEST_CASE("a batch of more than two needs exactly two neighbours") {
  FakeTarget target({.diverge_above_batch = 2, .diverge_at = 3});
  const RunRecord run = recorded(target, plan_of({"load.concurrency=6"}), drawn_prompts());
  const DivergingCase c = case_of(run, {.cell_index = 1, .key = {.prompt_index = 2}}, target);
  const auto r = reduce({.target = &target}, c, {.level = Level::kRequestReproducible});
  REQUIRE(r);
  CHECK(r->guilty.size() == 2);
  CHECK(r->after.concurrency == 3);
  CHECK(r->after.n_prompt_tokens == 1);
  CHECK(r->after.max_tokens == 4);
  CHECK(r->one_minimal);
  CHECK_FALSE(r->first);
}

TEST_CASE("a budget that is spent is said, and the case so far stands") {
  FakeTarget target({.diverge_above_batch = 2});
  const RunRecord run = recorded(target, plan_of({"load.concurrency=6"}), drawn_prompts());
  const DivergingCase c = case_of(run, {.cell_index = 1, .key = {.prompt_index = 2}}, target);
  const auto r = reduce({.target = &target}, c, {.max_runs = 3});
  REQUIRE(r);
  CHECK_FALSE(r->one_minimal);
  CHECK(r->n_runs == 3);
  CHECK(reduction_text(*r).find("not proved minimal") != std::string::npos);
  CHECK(case_diverges(answers_of_case(target, r->smallest), Level::kBitwise));
}

TEST_CASE("a case that does not repeat itself is said to be so") {
  FakeTarget target({.unstable_from_run = 2});
  const RunRecord run = recorded(target, plan_of({"load.concurrency=2"}), drawn_prompts(2));
  const DivergingCase c = case_of(run, {.cell_index = 1, .key = {.prompt_index = 1}}, target);
  const auto r = reduce({.target = &target}, c, {.max_runs = 50});
  REQUIRE(r);
  CHECK_FALSE(r->repeatable);
  CHECK(reduction_text(*r).find("NOT repeatable") != std::string::npos);
}

// explain is right about planted faults: each class must be named by layer, operator and clause, a
// shared random stream by the sampler, and engines without a fault must give nothing to explain.
#include "why/explanation.h"

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
const std::vector<std::string> kAxes = {"load.concurrency=4", "engine.chunked_prefill=17"};

void check_schema(const Json& value) {
  for (const std::string& error : SchemaCheck("why.schema.json").errors(value)) FAIL_CHECK(error);
}

Arm arm_of(const RunRecord& run, const SampleAddress& address, Target& target,
           const WatchedTarget& watched_target) {
  return {.sample = sample_ref(run, address),
          .cell = cell_at(run, address.cell_index).name,
          .request = asked_request(run, address),
          .recorded = trace_at(run, address),
          .execution = recorded_execution(run, address, traffic_source(target)),
          .target = watched_target};
}

// The first sample that is not its reference's.
std::optional<SampleAddress> first_diverging(const RunRecord& run) {
  for (const SampleRecord& s : run.samples) {
    const CellRecord& cell = cell_at(run, s.cell_index);
    const SampleAddress reference{.cell_index = cell.reference_index,
                                  .key = {.prompt_index = s.prompt_index}};
    if (!same_answer(trace_at(run, reference), s.trace))
      return SampleAddress{.cell_index = s.cell_index, .key = {.prompt_index = s.prompt_index}};
  }
  return std::nullopt;
}

Explanation explanation_of(const RunRecord& run, const SampleAddress& address, Target& target,
                           const WatchedTarget& watched_target) {
  SampleAddress reference = address;
  reference.cell_index = cell_at(run, address.cell_index).reference_index;
  const Explanation e = explain(arm_of(run, reference, target, watched_target),
                                arm_of(run, address, target, watched_target));
  check_schema(explanation_json(e));
  return e;
}

// Explains the first divergence that the fault makes.
Explanation explanation_of_fault(PlantedFault fault) {
  FaultyKernelSet faulty(fault, kernel_set("cpu"), kFaultyLayer,
                         bundled_checkpoint().config().n_layers);
  BuiltinTarget target = bundled_target(
      {.find_kernels = [&](const std::string&, const std::string&) -> const KernelSet& {
         return faulty.set();
       },
       .before_run = [&](EngineOptions&) { faulty.begin_run(); }});
  const RunRecord run = recorded(target, plan_of(kAxes), drawn_prompts());
  const auto address = first_diverging(run);
  REQUIRE(address);
  return explanation_of(run, *address, target, watched(target));
}

void check_located(PlantedFault fault, Operator op, const char* section) {
  const Explanation e = explanation_of_fault(fault);
  const std::string text = explanation_text(e, {});
  INFO(text);
  CHECK(std::string(name(e.cause)) == "operator");
  CHECK(e.reference.reproduced);
  CHECK(e.candidate.reproduced);
  REQUIRE(e.first);
  CHECK(e.first->layer == kFaultyLayer);
  CHECK(std::string(name(e.first->op)) == name(op));
  CHECK(std::string(e.clause->section).starts_with(section));
  REQUIRE(e.reference_step);
  REQUIRE(e.candidate_step);
  CHECK(e.reference_step->n_rows > 0);
  CHECK(text.find(std::string(name(op)) + " of layer 2") != std::string::npos);
  CHECK(text.find("numeric contract section " + std::string(section)) != std::string::npos);
  CHECK(text.find("does not claim to keep it") != std::string::npos);
}

}  // namespace

TEST_CASE("a reordered reduction is explained by matmul (down) of its layer") {
  check_located(PlantedFault::kReorderedReduction, Operator::kDown, "2");
}

TEST_CASE("a sum cut by the number of rows is explained by matmul (attention output)") {
  check_located(PlantedFault::kSplitByRows, Operator::kAttentionOut, "2");
}

TEST_CASE("an attention cut by the number of sequences is explained by attention") {
  check_located(PlantedFault::kSplitBySequences, Operator::kAttention, "3.4");
}

TEST_CASE("a stale KV block is explained by kv_write") {
  check_located(PlantedFault::kStaleKvBlock, Operator::kKvWrite, "3.5");
}

TEST_CASE("one flipped ulp is explained by its element, and is one ulp") {
  check_located(PlantedFault::kFlippedUlp, Operator::kDown, "2");
  const Explanation e = explanation_of_fault(PlantedFault::kFlippedUlp);
  CHECK(e.first_ulp == 1);
  CHECK(explanation_text(e, {}).find(": 1 ulp") != std::string::npos);
}

TEST_CASE("a shared random stream is explained by the sampler, not by an operator") {
  int64_t n_drawn = 0;
  BuiltinTarget target = bundled_target({.before_run = [&](EngineOptions& options) {
    n_drawn = 0;
    options.draw_point = [&](const SamplePoint& own) {
      return SamplePoint{.seed = 0, .position = n_drawn++, .sample_index = own.sample_index};
    };
  }});
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), drawn_prompts());
  const auto address = first_diverging(run);
  REQUIRE(address);
  const Explanation e = explanation_of(run, *address, target, watched(target));
  INFO(explanation_text(e, {}));
  CHECK(e.cause == Cause::kSampler);
  CHECK_FALSE(e.first);
  CHECK(std::string(e.clause->section).starts_with("5"));
  CHECK(explanation_text(e, {}).find("both arms' kernel sets claim to keep it") !=
        std::string::npos);
}

TEST_CASE("without a fault there is nothing to explain") {
  BuiltinTarget target = bundled_target();
  const RunRecord run = recorded(target, plan_of(kAxes), drawn_prompts(4));
  CHECK_FALSE(first_diverging(run));
  for (const int32_t cell : {1, 2}) {
    const Explanation e = explanation_of(run, {.cell_index = cell, .key = {.prompt_index = 1}},
                                         target, watched(target));
    CHECK(e.cause == Cause::kNone);
    CHECK(e.reference.reproduced);
    CHECK(explanation_text(e, {}).find("no difference") != std::string::npos);
  }
}

TEST_CASE(
    "two kernel sets are held against each other, with the largest drift and the flip's gap") {
  BuiltinTarget target = bundled_target();
  RunRecord run = recorded(target, plan_of({"engine.kernel_set=cpu,reference"}), drawn_prompts(2));
  // The same bits by contract; a third set with a fault stands for an adaptive one.
  FaultyKernelSet faulty(PlantedFault::kReorderedReduction, kernel_set("cpu"), kFaultyLayer,
                         bundled_checkpoint().config().n_layers);
  BuiltinTarget other = bundled_target(
      {.find_kernels = [&](const std::string&, const std::string&) -> const KernelSet& {
         return faulty.set();
       },
       .before_run = [&](EngineOptions&) { faulty.begin_run(); }});
  const RunRecord changed = recorded(other, plan_of({}), drawn_prompts(2), "9c01");
  const SampleAddress address{.cell_index = 0, .key = {.prompt_index = 1}};
  const Explanation e = explain(arm_of(run, address, target, watched(target)),
                                arm_of(changed, address, other, watched(other)));
  check_schema(explanation_json(e));
  INFO(explanation_text(e, {}));
  REQUIRE(e.cause == Cause::kOperator);
  CHECK(e.first->layer == kFaultyLayer);
  REQUIRE(e.largest_drift());
  CHECK(e.largest_drift()->ulp >= *e.first_ulp);
  for (const OperatorDrift& d : e.drifts) {
    CHECK(d.ulp <= e.largest_drift()->ulp);
    if (d.layer < kFaultyLayer) CHECK(d.n_different == 0);
  }
  CHECK(explanation_text(e, {}).find("claims no invariance") != std::string::npos);
}

TEST_CASE("the gap of a flip is the margin that was recorded, and its drift closes it") {
  FaultyKernelSet faulty(PlantedFault::kStaleKvBlock, kernel_set("cpu"), 0,
                         bundled_checkpoint().config().n_layers);
  BuiltinTarget target = bundled_target(
      {.find_kernels = [&](const std::string&, const std::string&) -> const KernelSet& {
         return faulty.set();
       },
       .before_run = [&](EngineOptions&) { faulty.begin_run(); }});
  std::vector<Request> prompts = drawn_prompts(16);
  for (Request& r : prompts) {
    r.max_tokens = 64;
    r.sampling = {};
  }
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), prompts);
  int n_flips = 0;
  for (int32_t p = 0; p < static_cast<int32_t>(prompts.size()) && n_flips < 2; ++p) {
    const SampleAddress address{.cell_index = 1, .key = {.prompt_index = p}},
        reference{.cell_index = 0, .key = {.prompt_index = p}};
    if (!compare_samples(trace_at(run, reference), trace_at(run, address)).token) continue;
    const Explanation e = explanation_of(run, address, target, watched(target));
    INFO(explanation_text(e, {}));
    REQUIRE(e.divergence.token);
    REQUIRE(e.flip_margin);
    const float margin = *e.divergence.token->reference_margin;
    CHECK(e.flip_margin->reference_gap >= static_cast<double>(margin) * (1 - 1e-6));
    CHECK(e.flip_margin->candidate_gap <= 0);
    CHECK(e.flip_margin->drift() >= e.flip_margin->reference_gap);
    CHECK(explanation_text(e, {}).find("the gap moved by") != std::string::npos);
    ++n_flips;
  }
  CHECK(n_flips > 0);
}

TEST_CASE("a record that a re-run does not give again is said to be just that") {
  BuiltinTarget target = bundled_target();
  RunRecord run = recorded(target, plan_of(kAxes), drawn_prompts(3));
  const SampleAddress address{.cell_index = 1, .key = {.prompt_index = 1}};
  for (SampleRecord& s : run.samples) {
    if (s.cell_index == 1 && s.prompt_index == 1) s.trace.positions[3].token_id ^= 1;
  }
  const Explanation e = explanation_of(run, address, target, watched(target));
  CHECK(e.cause == Cause::kNotReproduced);
  CHECK(e.reference.reproduced);
  CHECK_FALSE(e.candidate.reproduced);
  CHECK_FALSE(e.first);
  const std::string text = explanation_text(e, {});
  CHECK(text.find("does not reproduce: 4f2a/load.concurrency=4/prompt-1") != std::string::npos);
  CHECK(text.find("token at position 3") != std::string::npos);
}

TEST_CASE("a target that shows no operators is explained from its records alone") {
  FakeTarget target({.diverge_above_batch = 2, .diverge_at = 3});
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), drawn_prompts(4));
  const auto address = first_diverging(run);
  REQUIRE(address);
  const Explanation e = explanation_of(run, *address, target, {.target = &target});
  CHECK(e.cause == Cause::kNotProbed);
  CHECK(e.position() == 3);
  CHECK(e.candidate.reproduced);
  CHECK(explanation_text(e, {}).find("needs the built-in engine") != std::string::npos);

  Arm reference = arm_of(run, {.cell_index = 0, .key = address->key}, target, {}),
      candidate = arm_of(run, *address, target, {});
  reference.execution.reset();  // an import: nothing to ask
  candidate.execution.reset();
  const Explanation imported = explain(reference, candidate);
  check_schema(explanation_json(imported));
  CHECK(imported.cause == Cause::kNotProbed);
  CHECK_FALSE(imported.candidate.rerun);
}

TEST_CASE("the text of tokens is shown, and cannot reach a terminal as it is") {
  const Explanation e = explanation_of_fault(PlantedFault::kReorderedReduction);
  const std::string text = explanation_text(e, [](int32_t) { return std::string("\x1b[2J"); });
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\\x1b[2J") != std::string::npos);
}

TEST_CASE("work ends where the caller asks between answers") {
  struct Stop {};
  BuiltinTarget target = bundled_target();
  const RunRecord run = recorded(target, plan_of(kAxes), drawn_prompts(3));
  const Arm arm = arm_of(run, {.cell_index = 1, .key = {}}, target, watched(target));
  int n = 0;
  ExplainOptions options;
  options.between_answers = [&] {
    if (++n == 3) throw Stop{};
  };
  CHECK_THROWS_AS(explain(arm, arm, options), Stop);
  CHECK(n == 3);
}

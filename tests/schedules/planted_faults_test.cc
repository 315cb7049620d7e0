// The property test proved: every fault planted in a kernel set, and a random stream that requests
// share, must be found within a few schedules and located in the layer and operator that has it;
// the same set without a fault must pass the same schedules.
#include <doctest/doctest.h>

#include "checkpoint/open.h"
#include "kernels/registry.h"
#include "tests/schedules/schedule_bench.h"
#include "tests/support/faulty_kernel_set.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr uint64_t kFirstSeed = 100;
constexpr size_t kSchedules = 30;
constexpr int64_t kFaultyLayer = 2;

const Checkpoint& checkpoint() {
  static const auto bundled = open_checkpoint(ISOBIT_SOURCE_DIR "/examples/tiny-kjv");
  return *bundled;
}

std::vector<Request> requests() {
  return random_requests(2, 24,
                         {.vocab_size = checkpoint().config().vocab_size,
                          .max_prompt_tokens = 260,
                          .max_output_tokens = 8});
}

std::optional<ScheduleFailure> first_failure_with(PlantedFault fault) {
  FaultyKernelSet faulty(fault, kernel_set("cpu"), kFaultyLayer, checkpoint().config().n_layers);
  ScheduleBench bench(
      checkpoint(), requests(),
      {.kernel_sets = {&faulty.set()}, .before_run = [&](EngineOptions&) { faulty.begin_run(); }});
  return first_failure(bench, kFirstSeed, kSchedules);
}

void check_located(PlantedFault fault, Operator op) {
  const auto failure = first_failure_with(fault);
  REQUIRE(failure);
  INFO(failure->text);
  CHECK(failure->parting == Parting::kLogits);
  REQUIRE(failure->operator_difference);
  CHECK(failure->operator_difference->layer == kFaultyLayer);
  CHECK(std::string(name(failure->operator_difference->op)) == name(op));
  const std::string again = "seed " + std::to_string(failure->schedule.seed);
  CHECK(failure->text.find(again) != std::string::npos);
  CHECK(failure->text.find(describe(*failure->operator_difference)) != std::string::npos);
}

}  // namespace

TEST_CASE("a set that is wrapped but has no fault passes") {
  const auto failure = first_failure_with(PlantedFault::kNone);
  if (failure) FAIL_CHECK(failure->text);
}

TEST_CASE("a reordered reduction is found, in its layer, in matmul (down)") {
  check_located(PlantedFault::kReorderedReduction, Operator::kDown);
}

TEST_CASE("a sum that is cut by the number of rows is found, in its layer, in its matmul") {
  check_located(PlantedFault::kSplitByRows, Operator::kAttentionOut);
}

TEST_CASE("an attention that is cut by the number of sequences is found, in its layer") {
  check_located(PlantedFault::kSplitBySequences, Operator::kAttention);
}

TEST_CASE("a stale KV block is found, in its layer, in kv_write") {
  check_located(PlantedFault::kStaleKvBlock, Operator::kKvWrite);
}

TEST_CASE("one ulp of one element of one row is found, in its layer, in matmul (down)") {
  check_located(PlantedFault::kFlippedUlp, Operator::kDown);
}

TEST_CASE("a shared random stream is found, in the sampler") {
  int64_t n_drawn = 0;
  const auto next_of_all = [&](const SamplePoint& own) {
    return SamplePoint{.seed = 0, .position = n_drawn++, .sample_index = own.sample_index};
  };
  ScheduleBench bench(
      checkpoint(), requests(),
      {.kernel_sets = {&kernel_set("cpu")}, .before_run = [&](EngineOptions& options) {
         n_drawn = 0;
         options.draw_point = next_of_all;
       }});
  const auto failure = first_failure(bench, kFirstSeed, kSchedules);
  REQUIRE(failure);
  INFO(failure->text);
  CHECK(failure->parting == Parting::kToken);
  CHECK_FALSE(failure->operator_difference);
}

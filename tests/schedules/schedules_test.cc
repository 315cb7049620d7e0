// The promise itself: a request's answer is the same bits alone and in any schedule (numeric
// contract section 8). Schedules are drawn from consecutive seeds; a failure prints its seed, the
// first operator that differs and both bit patterns.
//
//   ISOBIT_SCHEDULES=5000       how many (200 otherwise, 20 of SmolLM2)
//   ISOBIT_SCHEDULE_SEED=17     the first seed
//   ISOBIT_SCHEDULE_ISA=avx2    only this instruction set of `cpu` (all that can run here
//   otherwise) ISOBIT_SMOLLM2=PATH         a real model too (scripts/fetch_model smollm2)
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "checkpoint/open.h"
#include "kernels/registry.h"
#include "tests/schedules/schedule_bench.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The fastest first: it answers alone.
std::vector<const KernelSet*> cpu_sets() {
  std::vector<const KernelSet*> sets;
  const char* only = std::getenv("ISOBIT_SCHEDULE_ISA");
  for (const KernelSetStatus& s : list_kernel_sets()) {
    if (s.name != "cpu" || (only && s.isa != only)) continue;
    if (s.available)
      sets.insert(sets.begin(), &kernel_set("cpu", s.isa));
    else
      std::printf("SKIPPED cpu/%s: %s\n", s.isa.c_str(), s.reason.c_str());
  }
  REQUIRE(!sets.empty());
  return sets;
}

void check_schedules(const std::filesystem::path& path, size_t n_requests, RequestLimits limits,
                     size_t n_schedules) {
  const auto checkpoint = open_checkpoint(path);
  limits.vocab_size = checkpoint->config().vocab_size;
  ScheduleBench bench(*checkpoint, random_requests(1, n_requests, limits),
                      {.kernel_sets = cpu_sets(), .before_run = {}});
  const uint64_t first_seed = number_from("ISOBIT_SCHEDULE_SEED", 1);
  n_schedules = number_from("ISOBIT_SCHEDULES", n_schedules);
  const auto start = std::chrono::steady_clock::now();
  const auto failure = first_failure(bench, first_seed, n_schedules);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf(
      "%s: seeds %llu to %llu, %zu output positions compared with the request alone, %.0f s\n",
      path.filename().c_str(), static_cast<unsigned long long>(first_seed),
      static_cast<unsigned long long>(first_seed + n_schedules - 1), bench.n_compared_positions(),
      elapsed.count());
  if (failure) FAIL_CHECK(failure->text);
}

}  // namespace

TEST_CASE("the bundled checkpoint answers in any schedule as it does alone") {
  check_schedules(ISOBIT_SOURCE_DIR "/examples/tiny-kjv", 48,
                  {.max_prompt_tokens = 400, .max_output_tokens = 12}, 200);
}

TEST_CASE("SmolLM2 answers in any schedule as it does alone") {
  const char* path = std::getenv("ISOBIT_SMOLLM2");
  if (!path || !std::filesystem::exists(path)) {
    std::puts("SKIPPED: schedules of SmolLM2 (ISOBIT_SMOLLM2 names no file; scripts/fetch_model)");
    return;
  }
  check_schedules(path, 24, {.max_prompt_tokens = 130, .max_output_tokens = 6}, 20);
}

TEST_CASE("a schedule is its seed") {
  const ScheduleSpace space{.n_requests = 10, .n_kernel_sets = 3};
  CHECK(describe(random_schedule(7, space)) == describe(random_schedule(7, space)));
  CHECK(describe(random_schedule(7, space)) != describe(random_schedule(8, space)));
}

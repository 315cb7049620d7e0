#include "engine/scheduler.h"

#include <doctest/doctest.h>

#include <algorithm>

using isobit::plan_step;
using isobit::SequenceProgress;
using isobit::StepPart;

namespace {

int64_t total(const std::vector<StepPart>& parts) {
  int64_t n = 0;
  for (const StepPart& p : parts) n += p.n_tokens;
  return n;
}

}  // namespace

TEST_CASE("without chunking a prompt is computed whole, even one longer than the budget") {
  const SequenceProgress one[] = {{.n_prompt_tokens = 100, .n_computed_tokens = 0}};
  const auto parts = plan_step(one, {.max_batch_tokens = 32, .prefill_chunk_tokens = {}});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].n_tokens == 100);
}

TEST_CASE("a prompt that does not fit beside others waits, and decodes go first") {
  const SequenceProgress s[] = {{10, 12}, {20, 0}, {100, 0}};
  const auto parts = plan_step(s, {.max_batch_tokens = 32, .prefill_chunk_tokens = {}});
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].slot == 0);
  CHECK(parts[0].n_tokens == 1);
  CHECK(parts[1].slot == 1);
  CHECK(parts[1].n_tokens == 20);
}

TEST_CASE("a prompt longer than the budget joins a step of decodes as its first prompt") {
  const SequenceProgress s[] = {{10, 12}, {100, 0}, {3, 0}};
  const auto parts = plan_step(s, {.max_batch_tokens = 32, .prefill_chunk_tokens = {}});
  REQUIRE(parts.size() == 2);
  CHECK(parts[1].n_tokens == 100);
}

TEST_CASE("chunks are at most the chunk size and continue where the last one ended") {
  const SequenceProgress s[] = {{40, 16}, {5, 0}};
  const auto parts = plan_step(s, {.max_batch_tokens = 64, .prefill_chunk_tokens = 16});
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].start == 16);
  CHECK(parts[0].n_tokens == 16);
  CHECK(parts[1].n_tokens == 5);
}

TEST_CASE("a step is never empty and every sequence ends, for every small state") {
  for (int64_t budget : {1, 2, 7, 64}) {
    for (int64_t chunk : {0, 1, 3, 16}) {
      isobit::ScheduleLimits limits{.max_batch_tokens = budget, .prefill_chunk_tokens = {}};
      if (chunk) limits.prefill_chunk_tokens = chunk;
      std::vector<SequenceProgress> s = {{9, 0}, {1, 0}, {70, 0}, {16, 0}};
      for (int step = 0; step < 400; ++step) {
        const auto parts = plan_step(s, limits);
        REQUIRE(!parts.empty());
        if (chunk && budget > 4) CHECK(total(parts) <= budget);
        for (const StepPart& p : parts)
          s[static_cast<size_t>(p.slot)].n_computed_tokens += p.n_tokens;
      }
      CHECK(std::all_of(s.begin(), s.end(),
                        [](const auto& x) { return x.n_computed_tokens > x.n_prompt_tokens; }));
    }
  }
}

// Which tokens of which sequences are computed in the next step. Pure: no clock, no memory of its
// own, no device.
//
// Continuous batching under a token budget: every sequence that has its prompt behind it decodes
// one token; what is left of the budget goes to prompts, in slot order. Prefill and decode share a
// step. A schedule can be anything without changing an answer (numeric contract section 2); this
// one is meant to be simple and to look like a serving engine's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isobit {

struct ScheduleLimits {
  int64_t max_batch_tokens =
      2048;  // token rows per step; the first prompt of a step may exceed it (plan_step)
  std::optional<int64_t> prefill_chunk_tokens;  // at most so many prompt tokens of one sequence in
                                                // a step; empty: whole prompts
};

struct SequenceProgress {
  int64_t n_prompt_tokens = 0;
  int64_t n_computed_tokens = 0;  // positions whose keys and values are in the cache
};

// Tokens [start, start + n_tokens) of the sequence in slot `slot`.
struct StepPart {
  int64_t slot = 0;
  int64_t start = 0;
  int64_t n_tokens = 0;
};

// Parts in ascending slot order. Never empty when `sequences` is not.
std::vector<StepPart> plan_step(std::span<const SequenceProgress> sequences,
                                const ScheduleLimits& limits);

}  // namespace isobit

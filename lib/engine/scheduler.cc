#include "engine/scheduler.h"

#include <algorithm>

namespace isobit {
namespace {

bool decodes(const SequenceProgress& s) {
  return s.n_computed_tokens >= s.n_prompt_tokens;
}

// How many prompt tokens of `s` may join a step that has `budget` rows left; 0: it waits. The first
// prompt of a step always moves: whole when prompts are not cut, by one token at least when they
// are, so that decodes cannot starve it.
int64_t prefill_share(const SequenceProgress& s, int64_t budget, bool is_first,
                      const ScheduleLimits& limits) {
  const int64_t remaining = s.n_prompt_tokens - s.n_computed_tokens;
  if (limits.prefill_chunk_tokens)
    return std::min({remaining, *limits.prefill_chunk_tokens,
                     is_first ? std::max<int64_t>(budget, 1) : budget});
  return remaining <= budget || is_first ? remaining : 0;
}

}  // namespace

std::vector<StepPart> plan_step(std::span<const SequenceProgress> sequences,
                                const ScheduleLimits& limits) {
  const auto n_decoding = std::count_if(sequences.begin(), sequences.end(), decodes);
  int64_t budget = std::max<int64_t>(0, limits.max_batch_tokens - n_decoding);
  bool is_first = true;
  std::vector<StepPart> parts;
  for (size_t slot = 0; slot < sequences.size(); ++slot) {
    const SequenceProgress& s = sequences[slot];
    const int64_t n = decodes(s) ? 1 : prefill_share(s, budget, is_first, limits);
    if (n == 0) continue;
    parts.push_back(
        {.slot = static_cast<int64_t>(slot), .start = s.n_computed_tokens, .n_tokens = n});
    if (decodes(s)) continue;
    budget = std::max<int64_t>(0, budget - n);
    is_first = false;
  }
  return parts;
}

}  // namespace isobit

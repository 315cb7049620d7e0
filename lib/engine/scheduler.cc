#include "engine/scheduler.h"

#include <algorithm>

namespace isobit {
namespace {

bool decodes(const SequenceProgress& s) { return s.n_computed_tokens >= s.n_prompt_tokens; }

// How many prompt tokens of `s` may join a step that has `budget` rows left; 0: it waits.
int64_t prefill_share(const SequenceProgress& s, int64_t budget, bool step_is_empty, const ScheduleLimits& limits) {
  const int64_t remaining = s.n_prompt_tokens - s.n_computed_tokens;
  if (limits.prefill_chunk_tokens) return std::min({remaining, *limits.prefill_chunk_tokens, budget});
  return remaining <= budget || step_is_empty ? remaining : 0;
}

}  // namespace

std::vector<StepPart> plan_step(std::span<const SequenceProgress> sequences, const ScheduleLimits& limits) {
  const auto n_decoding = std::count_if(sequences.begin(), sequences.end(), decodes);
  int64_t budget = std::max<int64_t>(0, limits.max_batch_tokens - n_decoding);
  bool prefilled = false;
  std::vector<StepPart> parts;
  for (size_t slot = 0; slot < sequences.size(); ++slot) {
    const SequenceProgress& s = sequences[slot];
    const bool step_is_empty = n_decoding == 0 && !prefilled;
    const int64_t n = decodes(s) ? 1 : prefill_share(s, std::max<int64_t>(budget, step_is_empty ? 1 : 0), step_is_empty, limits);
    if (n == 0) continue;
    parts.push_back({.slot = static_cast<int64_t>(slot), .start = s.n_computed_tokens, .n_tokens = n});
    if (!decodes(s)) {
      budget = std::max<int64_t>(0, budget - n);
      prefilled = true;
    }
  }
  return parts;
}

}  // namespace isobit

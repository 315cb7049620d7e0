// What is recorded of a row of logits: its hash, the log-sum-exp terms, the top alternatives and
// the margin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/trace.h"

namespace isobit {

// XXH3-128, seed 0, of each 1,024 logits (little-endian f32, the last block as long as it is), then
// XXH3-128 of those digests in order; canonical (big-endian, high half first). Numeric contract
// section 3.
Hash128 logits_hash(std::span<const float> row);

bool all_finite(std::span<const float> row);

struct RankedLogit {
  int32_t token_id = 0;
  float logit = 0;
};

// The n largest by (value descending, id ascending), -0 equal to +0. n may exceed the row.
std::vector<RankedLogit> top_logits(std::span<const float> row, int64_t n);

// Natural-log probability of a logit, given the row's maximum and Σ exp(z - max): (z - max) -
// log(sum).
float logprob(float logit, float row_max, float log_of_sum);

}  // namespace isobit

// Chooses the next token: numeric contract section 5, a pure function of its arguments.
//
// No state exists between calls, so that nothing another request does can move a draw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/request.h"

namespace isobit {

struct SamplePoint {
  uint64_t seed = 0;
  int64_t position = 0;      // absolute index that the new token will occupy
  int32_t sample_index = 0;  // which of the request's n choices
};

// True when the token is the argmax of the raw row: no penalty, no bias, temperature 0.
bool is_plain_greedy(const Sampling& sampling);

// `row`: raw logits (vocab). `prompt` and `output`: the tokens so far, for penalties. `scratch` is
// resized and reused. Throws Error(usage) when a parameter is out of its range (validate_sampling
// says which).
int32_t sample_token(std::span<const float> row, const Sampling& sampling, const SamplePoint& point,
                     std::span<const int32_t> prompt, std::span<const int32_t> output,
                     std::vector<float>& scratch);

// Throws Error(usage) naming the parameter, its value and the range that it must lie in.
void validate_sampling(const Sampling& sampling, int64_t vocab_size);

}  // namespace isobit

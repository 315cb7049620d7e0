// What is asked of a target. Plain data; token ids are the identity of a prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace isobit {

enum class SeedSource { kRequest, kRequestId };

// Numeric contract section 5. Neutral values switch a step off.
struct Sampling {
  double temperature = 0;  // 0: argmax of the penalised row
  int32_t top_k = 0;       // 0: off
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  double frequency_penalty = 0;
  double presence_penalty = 0;
  std::vector<std::pair<int32_t, double>> logit_bias;  // (token id, bias), ascending ids
  uint64_t seed = 0;                                   // always resolved before a target sees it
  SeedSource seed_source = SeedSource::kRequestId;
  int32_t n = 1;  // choices; choice i is sample index i
};

struct Stop {
  std::vector<std::string> strings;
  std::vector<int32_t> token_ids;  // beside the checkpoint's own end-of-sequence ids
  bool ignore_eos = false;
};

struct Request {
  std::string id;
  std::vector<int32_t> prompt_token_ids;
  int32_t max_tokens = 16;
  Sampling sampling;
  Stop stop;
  // Teacher forcing: generated position i takes forced_token_ids[i] whatever the sampler says;
  // scores are still the model's.
  std::vector<int32_t> forced_token_ids;
  int32_t n_top = 5;  // alternatives recorded per position
  std::vector<std::string> tags;
};

}  // namespace isobit

// How many different answers one question got: "80 of 1000", and where the first two part.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/trace.h"

namespace isobit {

struct DistinctOutputs {
  int32_t prompt_index = 0;  // into the base run's requests
  std::string request_id = {};
  int32_t sample_index = 0;
  int64_t n_answers = 0;
  int64_t n_distinct = 0;     // token sequences
  int64_t n_most_common = 0;  // answers that are the most frequent sequence
  int32_t first_split = 0;    // the first position at which two of them differ
};

// Absent where all are the same token sequence. Ids are left to the caller.
std::optional<DistinctOutputs> distinct_outputs(std::span<const Trace* const> answers);

}  // namespace isobit

// What only the record of a run knows, and a comparison does not: how often a prefix was found in
// the cache, and how often a row of logits held a NaN or an infinity.
#pragma once

#include <cstdint>
#include <optional>

#include "record/run_record.h"

namespace isobit {

struct RunMeasures {
  int64_t n_answers = 0;
  int64_t n_non_finite = 0;     // answers with such a row
  int64_t n_prompt_tokens = 0;  // of answers in cells that use the prefix cache
  int64_t n_cached_tokens = 0;  // of these, taken from the cache

  std::optional<double> non_finite_ratio() const;        // absent: no answers
  std::optional<double> prefix_cache_hit_ratio() const;  // absent: no cell uses the cache
};

RunMeasures measure_run(const RunRecord& run);

}  // namespace isobit

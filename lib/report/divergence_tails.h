// The tokens around the place where two answers part, for people who want to read the difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/run_comparison.h"
#include "record/run_record.h"

namespace isobit {

struct TailToken {
  int32_t token_id = 0;
  std::optional<float> margin = {};
  bool differs = false;  // from the other side's token at this position
};

struct DivergenceTail {
  std::string cell;
  std::string request_id;
  int32_t sample_index = 0;
  int32_t repeat = 0;
  int32_t first_position = 0;  // of the tokens below, on both sides
  std::vector<TailToken> reference;
  std::vector<TailToken> candidate;
};

// Of the `n` worst divergences, in their order; one whose answers are not in the records is left
// out. Within a run `base` and `candidate` are the same.
std::vector<DivergenceTail> divergence_tails(const RunRecord& base, const RunRecord& candidate,
                                             const RunComparison& comparison, size_t n);

}  // namespace isobit

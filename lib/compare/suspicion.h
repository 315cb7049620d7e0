// Flips that rounding does not explain, and whether several requests share one.
//
// A single flip at a large margin may be a fault of one request's state. Several in one cell around
// the same step, each at a large margin, point at state that the requests share: a cache block, a
// buffer, a step's batch. Records carry no step numbers, so "the same step" is read as the same
// repeat and first flips at most kSharedWindow positions apart, which is where requests that were
// decoded together stand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isobit {

struct CellComparison;

inline constexpr int32_t kSharedWindow = 2;

struct SharedSuspicion {
  int32_t repeat = 0;
  int32_t first_position = 0;
  int32_t last_position = 0;
  std::vector<std::string> request_ids = {};  // at least two different prompts, by position
};

// Suspicious flips of a cell that lie together; disjoint, by (repeat, position).
std::vector<SharedSuspicion> shared_suspicions(const CellComparison& cell);

}  // namespace isobit

// Lines two cells' samples up and compares each pair.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "compare/recorded_samples.h"
#include "compare/run_comparison.h"

namespace isobit {

// One side of a cell comparison. `prompt_map` takes the reference side's prompt index to this
// side's; an index that it lacks has no counterpart.
struct CellSide {
  const RunRecord& run;
  const RecordedSamples& samples;
  const CellRecord& cell;
};

// The line's description and its count of samples; pairs are added by the caller.
CellComparison describe_cell(const CellSide& reference, const CellSide& candidate);

// Compares candidate (p', s, r) with reference (p, s, r') for every expected key; p' =
// prompt_map.at(p), r' = r unless `against_first_repeat`. Sets the flip kinds too.
enum class RepeatPairing { kSameRepeat, kFirstRepeat };
void compare_cells(CellComparison& line, const CellSide& reference, const CellSide& candidate,
                   const std::map<int32_t, int32_t>& prompt_map,
                   const std::set<SampleKey>& expected, RepeatPairing pairing,
                   const FlipThresholds& thresholds);

}  // namespace isobit

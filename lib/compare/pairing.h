// Lines two cells' samples up and compares each pair.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

enum class RepeatPairing { kSameRepeat, kFirstRepeat };

struct PairingOptions {
  RepeatPairing repeats = RepeatPairing::kSameRepeat;
  FlipThresholds thresholds = {};
  std::string over_run = {};  // whose answers forced positions follow: see ForcedRecord
  Detail detail = Detail::kVerdict;
  std::vector<RowObservation>* rows = nullptr;  // where given, compared rows are added
};

// Compares candidate (p', s, r) with reference (p, s, r') for every expected key; p' =
// prompt_map.at(p), r' = r unless paired with the first repeat. Sets the flip kinds too, and what
// follows from a cell's answers taken together.
void compare_cells(CellComparison& line, const CellSide& reference, const CellSide& candidate,
                   const std::map<int32_t, int32_t>& prompt_map,
                   const std::vector<SampleKey>& expected, const PairingOptions& options);

}  // namespace isobit

// What a run does to its own answers when it is asked again: the reference cells' repeats against
// their first. It decides what counts as a tie everywhere else.
#pragma once

#include <map>
#include <optional>

#include "compare/group_keys.h"
#include "compare/pairing.h"
#include "compare/summary.h"

namespace isobit {

struct ReferenceNoise {
  PairCounts counts;
  std::optional<Drift> drift = {};
  std::vector<int32_t> noisy_prompts;  // ascending
  MatchCounter match;                  // prompts whose repeats have the same tokens
};

void note_noise(RunComparison& comparison, const ReferenceNoise& noise);

// Adds one reference cell's line.
void add_noise(ReferenceNoise& noise, const CellComparison& line);

// The line of one reference cell: its repeats, and the first itself where it is missing.
CellComparison compare_repeats(const CellSide& reference, const GroupKeys& group,
                               const std::map<int32_t, int32_t>& prompt_map,
                               const PairingOptions& options);

// Over all reference cells of a run.
ReferenceNoise reference_noise(const RunRecord& run, const RecordedSamples& samples,
                               const CompareOptions& options);

std::map<int32_t, int32_t> every_prompt_to_itself(const RunRecord& run);

}  // namespace isobit

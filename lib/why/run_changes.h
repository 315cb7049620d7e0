// What changed between two recorded cells, of one run or of two, sorted into what can be applied
// here (axis values, the plan's seed, the checkpoint) and what cannot (drivers, machines); and the
// base cell with some of it applied, asked again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/level.h"
#include "record/run_record.h"
#include "why/bisection.h"
#include "why/recorded_traffic.h"

namespace isobit {

struct CellOfRun {
  const RunRecord& run;
  int32_t cell_index = 0;
  uint64_t seed = 0;  // the plan's
};

// Two cells that answer some of the same requests, and the answer that is explained.
struct CellPair {
  CellOfRun base, candidate;
  std::optional<DivergingAnswer> answer;  // of the first repeat; absent: none differs
};

struct PairOfRuns {
  const RunRecord& base;
  const RunRecord& candidate;
  uint64_t base_seed = 0, candidate_seed = 0;
};
// The cells of two runs, or (when both are one run) a cell and its reference, whose answers part
// first at `level`: see DivergingAnswer. `candidate_cell`, `base_prompt`: only these, by index.
// Throws Error(unsupported) when the runs have no cell and request in common.
CellPair diverging_pair(const PairOfRuns& runs, std::optional<int32_t> candidate_cell,
                        std::optional<int32_t> base_prompt, Level level);

inline constexpr const char* kModelChange = "model";
inline constexpr const char* kSeedChange = "plan seed";

struct RunChanges {
  std::vector<Change> applicable, suspects;
};
// `models_differ`: the two checkpoints have other weights, and both can be loaded.
RunChanges changes_between(const CellPair& pair, bool can_switch_model);

// The target that answers with the base's checkpoint, or with the candidate's.
using TargetOf = std::function<Target&(bool candidates_model)>;

struct AskSource {
  TargetOf target;
  TrafficSource traffic;  // its seed is replaced
  Level level = Level::kBitwise;
  BetweenAnswers between_answers;
};

// `changes` are changes_between().applicable. References must outlive what is returned.
AskWith asking(const CellPair& pair, const std::vector<Change>& changes, const AskSource& source);

}  // namespace isobit

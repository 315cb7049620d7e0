// Adds pairs up: counts, matched prompts, and the per-cell and per-axis lines that reports print.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compare/run_comparison.h"

namespace isobit {

PairCounts count(const PairComparison& pair);
void widen(std::optional<Drift>& widest, const std::optional<Drift>& other);
void widen(std::optional<GapDrift>& widest, const std::optional<GapDrift>& other);

// Counts units (prompts, or prompts within cells) of which every pair holds a level. A unit with an
// undecided pair (missing, unsupported) and no different one is no trial: it can neither match nor
// fail.
class MatchCounter {
 public:
  using Unit = std::pair<int32_t, int32_t>;
  void add(Unit unit, Sameness sameness) { units_.emplace_back(unit, sameness); }
  Proportion result();

 private:
  std::vector<std::pair<Unit, Sameness>> units_;
};

// Everything of `cell` that follows from its pairs.
void summarise_pairs(CellComparison& cell);
// Everything of `comparison` that follows from its cells.
void summarise_cells(RunComparison& comparison);

}  // namespace isobit

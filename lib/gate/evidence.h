// Is there enough to judge by? Missing answers, cells that did not happen, runs that stopped early.
// None of these ever ends as a pass.
#pragma once

#include "compare/run_comparison.h"
#include "gate/outcome.h"
#include "gate/policy.h"
#include "gate/selection.h"

namespace isobit {

void judge_status(const RunSide& run, const char* what, ReasonList& reasons);

// Every cell's pairs and the proof that it happened; and whether anything could be compared at all.
void judge_evidence(const RunComparison& comparison, const TierList& tiers, const Waivers& waivers,
                    ReasonList& reasons);

// Cells that only one run has.
void judge_cell_lists(const RunComparison& comparison, const Waivers& waivers, ReasonList& reasons);

// Between runs: what the policy wants covered.
void judge_coverage(const RunComparison& comparison, const Coverage& coverage,
                    const Waivers& waivers, ReasonList& reasons);

// "1 of 4 answers differ from cell reference: 1 in tokens, 2 in bits": of a unit of one cell.
std::string difference_text(const SelectedCell& cell, const RunComparison& comparison, Level level);

std::string plural(int64_t n, const char* singular, const char* plural_form);

}  // namespace isobit

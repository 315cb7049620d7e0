// Two runs held against a policy: what `gate`, `gate --upgrade` and `baseline verify` share.
#pragma once

#include <string>

#include "gate/policy.h"
#include "gate/verdict.h"
#include "record/run_record.h"
#include "report/report.h"

namespace isobit::app {

struct GatedRuns {
  RunComparison comparison;
  RunComparison within;  // the candidate's own cells
  Verdict verdict;
};
// Compared at `detail`, or in full where the policy needs it. Reports show Detail::kFull.
GatedRuns gate_runs(const RunRecord& base, const RunRecord& candidate, const Policy& policy,
                    const Date& today, Detail detail = Detail::kVerdict);

// The divergence that a failed gate is best explained by.
struct GatedDivergence {
  const RunComparison* comparison = nullptr;  // of the two runs, or the candidate's own; null: none
  RankedDivergence at;                        // bears on the gate's level
};
GatedDivergence worst_of(const GatedRuns& gated);

// Of a candidate that has no answers yet: only its fingerprint and prompts are judged.
Verdict gate_without_answers(const RunRecord& base, const RunRecord& candidate,
                             const Policy& policy, const Date& today);

}  // namespace isobit::app

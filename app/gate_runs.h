// Two runs held against a policy: what `gate`, `gate --upgrade` and `baseline verify` share.
#pragma once

#include <string>

#include "gate/policy.h"
#include "gate/verdict.h"
#include "record/run_record.h"

namespace isobit::app {

Verdict gate_runs(const RunRecord& base, const RunRecord& candidate, const Policy& policy,
                  const Date& today);

// The same with the comparison that a report shows: at Detail::kFull.
struct GatedRuns {
  RunComparison comparison;
  Verdict verdict;
};
GatedRuns gate_runs_in_full(const RunRecord& base, const RunRecord& candidate, const Policy& policy,
                            const Date& today);

// Of a candidate that has no answers yet: only its fingerprint and prompts are judged.
Verdict gate_without_answers(const RunRecord& base, const RunRecord& candidate,
                             const Policy& policy, const Date& today);

}  // namespace isobit::app

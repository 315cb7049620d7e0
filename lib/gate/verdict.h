// What may be concluded from a comparison. Pure: the comparison and a policy in, a verdict with its
// reasons out.
//
// Every reason found is kept; the outcome is the one that comes first in this order (product page,
// exit codes): incomparable, unsupported, fail, incomplete, inconclusive, warn. Missing evidence
// never ends as a pass.
#pragma once

#include <string>
#include <vector>

#include "compare/level.h"
#include "compare/run_comparison.h"
#include "gate/fingerprint_judgement.h"
#include "gate/outcome.h"
#include "gate/policy.h"
#include "gate/rule_judgement.h"
#include "gate/tier_table.h"

namespace isobit {

struct Verdict {
  Outcome outcome = Outcome::kPass;
  Level level = Level::kRequestReproducible;
  std::vector<Reason> reasons;  // by precedence, then in the order of the comparison
  std::string sentence;         // the verdict in plain words, one line
  // Of a gate; a run that is judged by itself has rules only.
  Policy policy;
  std::vector<RuleResult> rules;    // the level's, then the policy's own
  std::vector<TierResult> tiers;    // empty where the policy has none
  std::vector<ChangeNote> changes;  // what changed in the fingerprint
  std::vector<Reason> notes;        // what decides nothing: let through, or only informing
};

struct GateRequest {
  Level level = Level::kRequestReproducible;  // without a policy: the ready policy of this level
  const Policy* policy = nullptr;
  Date today;  // against which overrides expire
  // The candidate's own cells against its reference cell: level 1 asks for the same tokens
  // "whatever else runs" as well as for the baseline's. Null: only the baseline is asked about, and
  // rules against the reference are inconclusive.
  const RunComparison* candidate_within = nullptr;
  EffectOf effect_of = {};
};

// REQUIRES: comparison is between runs; candidate_within, if given, is within one.
// Throws Error(usage) for an override that has expired, naming it.
Verdict gate(const RunComparison& comparison, const GateRequest& request);

// Is every cell the same as its reference cell, at this level? REQUIRES: comparison is within a
// run.
Verdict check_run(const RunComparison& comparison, Level level);

}  // namespace isobit

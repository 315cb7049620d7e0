// What the two fingerprints say: whether the answers may be compared at all, and what changed that
// may explain a difference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/run_comparison.h"
#include "gate/outcome.h"
#include "gate/policy.h"

namespace isobit {

enum class Expectation { kExpected, kAllowed, kUnexpected };
const char* name(Expectation expectation);

struct ChangeNote {
  FingerprintChange change;
  Expectation expectation = Expectation::kUnexpected;
  std::string effect;  // what such a change can affect; empty: not known here
};

// lib/fingerprint knows what an item's change can affect; whoever calls hands that in. May be
// empty.
using EffectOf = std::function<std::string(FingerprintClass, const std::string& name)>;

void judge_must_match(const RunComparison& comparison, const Policy& policy, ReasonList& reasons);
std::vector<ChangeNote> judge_changes(const RunComparison& comparison,
                                      const ExpectedChanges& expected, const EffectOf& effect_of,
                                      ReasonList& reasons);

}  // namespace isobit

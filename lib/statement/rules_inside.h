// The rules in a verdict, held against the policy that they follow from and judged again by their
// own figures: a rule that was left out, a bound that was moved, a unit that keeps to a limit which
// its figure breaks, a failure that the verdict does not show.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "gate/policy.h"
#include "statement/disagreement.h"

namespace isobit {

// Does a verdict's JSON come from a gate between two runs? Else from a run that was held against
// itself.
bool is_between_runs(const Json& verdict);

// Of a verdict's JSON ("isobit.verdict") and its policy. The figures themselves are not computed
// again: that takes the runs. Throws Error(environment) beginning with `where` for rules that
// cannot be read.
std::vector<Disagreement> rules_unlike_policy(const Json& verdict, const Policy& policy,
                                              const std::string& where);

}  // namespace isobit

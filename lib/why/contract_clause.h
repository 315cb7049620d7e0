// Which clause of the numeric contract (docs/numeric-contract.md) says how an operator computes,
// and therefore what an execution that differs there has broken.
#pragma once

#include "engine/operator_probe.h"

namespace isobit {

struct ContractClause {
  const char* section;  // "2, Tree(K) and segments"
  const char* rule;     // one sentence: what must not depend on company or schedule
};

ContractClause clause_of(Operator op);
ContractClause clause_of_sampler();
ContractClause clause_of_scores();
ContractClause clause_of_ending();

}  // namespace isobit

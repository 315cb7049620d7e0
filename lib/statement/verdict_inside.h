// What a verdict makes of a test-result: PASSED, WARNED or FAILED, and the names of its rules. One
// definition for who writes a statement and who verifies one: a result that its own verdict does
// not give is worth nothing, however well it is signed.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "gate/verdict.h"
#include "statement/disagreement.h"
#include "statement/in_toto.h"

namespace isobit {

inline constexpr const char* kPolicyResource = "policy.json";
inline constexpr const char* kVerdictResource = "verdict.json";

// What a statement's members follow from.
struct VerdictFacts {
  struct Named {
    Outcome outcome = Outcome::kPass;
    std::string name;  // of a rule, "TIER/RULE"; the subject of a reason
  };
  Outcome outcome = Outcome::kPass;
  int level = 0;
  std::vector<Named> rules, reasons;
};

VerdictFacts facts_of(const Verdict& verdict);

const char* result_word(Outcome outcome);

struct TestNames {
  std::set<std::string> passed, warned, failed;
};
TestNames tests_of(const VerdictFacts& verdict);

// Of a test-result whose digests hold: its result, lists, annotations and the runs it names against
// its verdict, the verdict against its own reasons and rules, these and its policy against one
// another. Throws Error(environment) beginning with `where` for a verdict or a policy that cannot
// be read.
std::vector<Disagreement> disagreements_inside(const InTotoStatement& statement,
                                               const std::string& where);

}  // namespace isobit

// A policy file. What is accepted comes back the same from its own JSON form, and can judge a run.
#include "gate/policy_file.h"

#include "gate/verdict.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 8 * kMiB;

void read_hostile(std::string_view input) {
  const Policy policy = read_policy(input, "f");
  const Json json = policy_to_json(policy);
  const Policy again = read_policy(json.dump(), "again");
  expect(policy_to_json(again) == json, "a policy that does not come back from its own form");
  RunComparison empty;
  empty.kind = ComparisonKind::kBetweenRuns;
  GateRequest request;
  request.policy = &policy;
  const Verdict verdict = gate(empty, request);
  expect(verdict.outcome != Outcome::kPass, "a comparison of nothing that passes");
}

}  // namespace isobit::test

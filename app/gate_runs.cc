#include "app/gate_runs.h"

#include <vector>

#include "fingerprint/fingerprint_diff.h"
#include "gate/metrics.h"

namespace isobit::app {
namespace {

GateRequest request_of(const Policy& policy, const Date& today, const RunComparison* within) {
  GateRequest request;
  request.policy = &policy;
  request.today = today;
  request.candidate_within = within;
  request.effect_of = [](FingerprintClass item_class, const std::string& name) {
    return std::string(rule_of(item_class, name).effect);
  };
  return request;
}

}  // namespace

GatedRuns gate_runs(const RunRecord& base, const RunRecord& candidate, const Policy& policy,
                    const Date& today, Detail detail) {
  const CompareOptions options{.detail = needs_full_detail(policy) ? Detail::kFull : detail};
  GatedRuns out{.comparison = compare_runs(base, candidate, options),
                .within = compare_within_run(candidate, options),
                .verdict = {}};
  out.verdict = gate(out.comparison, request_of(policy, today, &out.within));
  return out;
}

GatedDivergence worst_of(const GatedRuns& gated) {
  GatedDivergence drift;
  for (const RunComparison* comparison : {&gated.comparison, &gated.within}) {
    const std::vector<RankedDivergence> worst = worst_divergences(*comparison, 1);
    if (worst.empty()) continue;
    const GatedDivergence found{.comparison = comparison, .at = worst[0]};
    if (worst[0].pair->divergence.token) return found;
    if (drift.comparison == nullptr) drift = found;
  }
  return gated.verdict.level == Level::kBitwise ? drift : GatedDivergence{};
}

Verdict gate_without_answers(const RunRecord& base, const RunRecord& candidate,
                             const Policy& policy, const Date& today) {
  return gate(compare_runs(base, candidate), request_of(policy, today, nullptr));
}

}  // namespace isobit::app

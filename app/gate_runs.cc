#include "app/gate_runs.h"

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

Verdict gate_runs(const RunRecord& base, const RunRecord& candidate, const Policy& policy,
                  const Date& today) {
  CompareOptions options;
  if (needs_full_detail(policy)) options.detail = Detail::kFull;
  const RunComparison within = compare_within_run(candidate, options);
  return gate(compare_runs(base, candidate, options), request_of(policy, today, &within));
}

GatedRuns gate_runs_in_full(const RunRecord& base, const RunRecord& candidate, const Policy& policy,
                            const Date& today) {
  const CompareOptions options{.detail = Detail::kFull};
  const RunComparison within = compare_within_run(candidate, options);
  GatedRuns out{.comparison = compare_runs(base, candidate, options), .verdict = {}};
  out.verdict = gate(out.comparison, request_of(policy, today, &within));
  return out;
}

Verdict gate_without_answers(const RunRecord& base, const RunRecord& candidate,
                             const Policy& policy, const Date& today) {
  return gate(compare_runs(base, candidate), request_of(policy, today, nullptr));
}

}  // namespace isobit::app

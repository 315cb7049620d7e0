// The ready policies, compiled in from examples/policies so that file and program cannot differ.
#include "gate/policy_file.h"

namespace isobit {

const std::vector<ReadyPolicy>& ready_policies() {
  static const std::vector<ReadyPolicy> policies = {
#include ISOBIT_READY_POLICIES
  };
  return policies;
}

}  // namespace isobit

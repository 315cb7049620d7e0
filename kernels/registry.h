// Which kernel sets exist, which can run here, and why not the rest.
#pragma once

#include <string>
#include <vector>

#include "kernels/ops.h"

namespace isobit {

struct KernelSetStatus {
  std::string name;  // "cpu"
  std::string isa;   // "avx512"
  bool available = false;
  std::string reason;  // why not, when it is not
};

// Every (set, instruction set) of the product, in a fixed order.
std::vector<KernelSetStatus> list_kernel_sets();

// `isa` empty: the best that this machine has. Throws Error(usage) for an unknown word (with the
// nearest one) and Error(environment) for a set or instruction set that exists but cannot run here;
// never substitutes another.
const KernelSet& kernel_set(const std::string& name, const std::string& isa = {});

}  // namespace isobit

// Kernel set `reference`: scalar C++ written to be read beside the numeric contract, one file per
// family of operators. It is the oracle of every other set and is never tuned for speed; where the
// contract leaves a choice open, this code decides.
#pragma once

#include "kernels/ops.h"

namespace isobit {

const KernelSet& reference_kernel_set();

}  // namespace isobit

// Kernel set `cpu-adaptive`: deliberately not invariant.
//
// It does what serving engines do by default: a vendor library's matrix product, a kernel chosen by
// the number of rows in the step, attention split by load, and activations rounded to bf16 between
// operators. So a request's bits depend on who shares its batch. It shows users what their engine
// does, and it is the planted fault that every detector must find. Exists where OpenBLAS was found
// at configure time.
#pragma once

#include "kernels/ops.h"

namespace isobit {

const KernelSet& adaptive_kernel_set();

}  // namespace isobit

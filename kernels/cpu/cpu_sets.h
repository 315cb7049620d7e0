// The kernel set `cpu`: the bits of the numeric contract at vector speed, one table per instruction
// set.
//
// All variants come from one template source over a lane type (lanes_*.h). A variant may be *named*
// on any machine of its architecture; calling its operators is allowed only where the processor has
// the instructions (kernels/registry.h asks).
#pragma once

#include "kernels/ops.h"

namespace isobit {

const KernelSet& cpu_kernel_set_portable();
#if defined(__x86_64__)
const KernelSet& cpu_kernel_set_avx2();    // needs AVX2, FMA and F16C
const KernelSet& cpu_kernel_set_avx512();  // needs AVX-512 F, BW, VL and DQ
#endif

}  // namespace isobit

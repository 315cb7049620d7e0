// The kernel set `cpu`: the bits of the numeric contract at vector speed, one table per instruction
// set.
//
// All variants come from one template source over a lane type (lanes_*.h). A variant may be *named*
// on any machine of its architecture; calling its operators is allowed only where the processor has
// the instructions (kernels/registry.h asks).
#pragma once

#include <string>

#include "kernels/ops.h"

namespace isobit {

// What one core can do at most with an instruction set, for benchmarks.
struct CpuRoofs {
  int64_t flops_per_round = 0;
  double (*fma_loop)(int64_t n_rounds,
                     float start) = nullptr;  // flops_per_round each, registers only
  int32_t (*read_all)(const std::byte* p, int64_t n_bytes) = nullptr;  // loads every byte once
};

// REQUIRES: kernel_set("cpu", isa) does not throw.
const CpuRoofs& cpu_roofs(const std::string& isa);

const KernelSet& cpu_kernel_set_portable();
#if defined(__x86_64__)
const KernelSet& cpu_kernel_set_avx2();    // needs AVX2, FMA and F16C
const KernelSet& cpu_kernel_set_avx512();  // needs AVX-512 F, BW, VL and DQ
#elif defined(__aarch64__)
const KernelSet& cpu_kernel_set_neon();  // part of the base architecture
#endif

}  // namespace isobit

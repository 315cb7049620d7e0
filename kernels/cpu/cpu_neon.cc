// The `cpu` set on NEON lanes, which every aarch64 processor has.
#if defined(__aarch64__)

// clang-format off
#include "kernels/cpu/lanes_neon.h"
#include "kernels/cpu/cpu_operators.h"
// clang-format on

namespace isobit {

constinit const CpuOps kCpuOpsNeon = cpu_operators<NeonLanes>();

}  // namespace isobit

#endif

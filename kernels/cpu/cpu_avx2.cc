// The `cpu` set on AVX2 lanes. Compiled with the flags of that instruction set: nothing here may be
// shared with other files (cpu_ops.h).
#if defined(__x86_64__)

// clang-format off
#include "kernels/cpu/lanes_avx2.h"
#include "kernels/cpu/cpu_operators.h"
// clang-format on

namespace isobit {

constinit const CpuOps kCpuOpsAvx2 = cpu_operators<Avx2Lanes>();

}  // namespace isobit

#endif

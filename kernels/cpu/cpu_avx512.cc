// The `cpu` set on AVX-512 lanes. Compiled with the flags of that instruction set: nothing here may
// be shared with other files (cpu_ops.h).
#if defined(__x86_64__)

// clang-format off
#include "kernels/cpu/lanes_avx512.h"
#include "kernels/cpu/cpu_operators.h"
// clang-format on

namespace isobit {

constinit const CpuOps kCpuOpsAvx512 = cpu_operators<Avx512Lanes>();

}  // namespace isobit

#endif

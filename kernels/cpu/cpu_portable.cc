// The `cpu` set on plain C++ lanes, for any architecture.

// clang-format off
#include "kernels/cpu/lanes_portable.h"
#include "kernels/cpu/cpu_operators.h"
// clang-format on

namespace isobit {

constinit const CpuOps kCpuOpsPortable = cpu_operators<PortableLanes>();

}  // namespace isobit

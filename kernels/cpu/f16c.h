// Whether this processor converts between f16 and f32 in hardware. By hand:
// __builtin_cpu_supports of clang 14 does not know the name. x86-64 only.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace isobit {

inline bool has_f16c() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace isobit
#endif

// The elementary functions over arrays, on one lane type: the same instantiations that attention,
// silu_mul and log_sum_exp inline.
#pragma once

#include "kernels/cpu/cpu_partial.h"
#include "numeric/elementary.h"

namespace isobit {

template <class V>
struct ElementaryArrays {
  template <V (*kFunction)(V)>
  static void each(const float* x, int64_t n, float* y) {
    for (int64_t i = 0; i < n; i += V::kWidth) {
      store_first<V>(kFunction(load_first<V>(x + i, n - i)), y + i, n - i);
    }
  }

  static void run(Elementary function, const float* x, int64_t n, float* y) {
    switch (function) {
      case Elementary::kExp:
        return each<exp_lanes<V>>(x, n, y);
      case Elementary::kExp2:
        return each<exp2_lanes<V>>(x, n, y);
      case Elementary::kLog:
        return each<log_lanes<V>>(x, n, y);
      case Elementary::kTanh:
        return each<tanh_lanes<V>>(x, n, y);
      case Elementary::kErf:
        return each<erf_lanes<V>>(x, n, y);
    }
  }
};

}  // namespace isobit

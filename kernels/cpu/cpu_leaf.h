// One leaf of the contract's Tree: up to 128 terms of every output element of a panel and a few
// rows, as chains in registers, and how finished leaves join.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/cpu_packed.h"

namespace isobit {

inline constexpr int64_t kTreeLeaf = 128;

template <int... kSteps>
struct Steps {};
using EightSteps = Steps<0, 1, 2, 3, 4, 5, 6, 7>;

template <int kCount, int... kSteps>
constexpr auto count_up() {
  if constexpr (sizeof...(kSteps) == kCount) {
    return Steps<kSteps...>{};
  } else {
    return count_up<kCount, kSteps..., static_cast<int>(sizeof...(kSteps))>();
  }
}
// Steps<0, ..., kCount - 1>; named as a type, so that no file emits the function above.
template <int kCount>
using CountUp = decltype(count_up<kCount>());

// The sums to the left that a finished one completes, nearest first: sum = left + sum, n times.
// They lie in slots of (n_rows, 32), one below the other.
struct Fold {
  const float* nearest = nullptr;
  int64_t slot_floats = 0;
  int64_t n = 0;
};

// Weights [k0, k0 + n_k) of a panel times the rows of x.
struct LeafJob {
  const std::byte* panel = nullptr;
  int64_t k0 = 0, n_k = 0;
  const float* x = nullptr;  // at k0; (rows, n_k) with row stride x_stride
  int64_t x_stride = 0;
  float* out = nullptr;  // (rows, 32) with row stride out_stride
  int64_t out_stride = 0;
  Fold fold;
};

// kRows x kVectors accumulators, of the columns from kVectors * V::kWidth * index on.
template <class V, int kRows, int kVectors>
struct LeafSums {
  V v[kRows][kVectors];

  ISOBIT_LANES_INLINE LeafSums() {
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) v[r][i] = V::broadcast(0.0f);
    }
  }

  // One k, vector i of the columns.
  ISOBIT_LANES_INLINE void add(int i, V w, const float* x, int64_t x_stride) {
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) v[r][i] = fma(V::broadcast(x[r * x_stride]), w, v[r][i]);
  }

  // The sum of two leaves, `left` the earlier one.
  ISOBIT_LANES_INLINE void join(const LeafSums& left) {
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) v[r][i] = left.v[r][i] + v[r][i];
    }
  }

  // c: the first column.
  ISOBIT_LANES_INLINE void finish(const Fold& fold, int c, float* out, int64_t out_stride) {
    for (int64_t n = 0; n < fold.n; ++n) {
      const float* left = fold.nearest - n * fold.slot_floats + c;
#pragma GCC unroll 32
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i)
          v[r][i] = V::load(left + r * kPanelColumns + i * V::kWidth) + v[r][i];
      }
    }
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) v[r][i].store(out + r * out_stride + c + i * V::kWidth);
    }
  }
};

}  // namespace isobit

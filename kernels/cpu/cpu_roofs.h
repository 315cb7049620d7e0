// The two loops that bound every kernel on this machine, on the lanes that the kernels use: nothing
// but fma, and nothing but reading. `isobit bench` runs them beside the kernels that it judges.
#pragma once

#include "kernels/cpu/cpu_ops.h"

namespace isobit {

template <class V>
struct RoofLoops {
  // Independent chains enough to hide the latency of fma (4 or 5 cycles at 2 a cycle), few enough
  // for 16 registers.
  static constexpr int kChains = 12;

  static double fma_loop(int64_t n_rounds, float start) {
    V chains[kChains];
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = V::broadcast(start + static_cast<float>(i));
    const V factor = V::broadcast(0.5f), term = V::broadcast(start);
    for (int64_t round = 0; round < n_rounds; ++round) {
#pragma GCC unroll 12
      for (int i = 0; i < kChains; ++i) chains[i] = fma(chains[i], factor, term);
    }
    float lanes[V::kWidth];
    double sum = 0;
    for (int i = 0; i < kChains; ++i) {
      chains[i].store(lanes);
      sum += static_cast<double>(lanes[0]);
    }
    return sum;
  }

  static int32_t read_all(const std::byte* p, int64_t n_bytes) {
    using Int = typename V::Int;
    constexpr int64_t kBytes = V::kWidth * 4, kAtOnce = 8;
    Int sums[kAtOnce];
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) sums[i] = Int::broadcast(0);
    for (int64_t at = 0; at + kAtOnce * kBytes <= n_bytes; at += kAtOnce * kBytes) {
#pragma GCC unroll 8
      for (int i = 0; i < kAtOnce; ++i) sums[i] = sums[i] + Int::load(p + at + i * kBytes);
    }
    for (int i = 1; i < kAtOnce; ++i) sums[0] = sums[0] + sums[i];
    float lanes[V::kWidth];
    from_bits(sums[0]).store(lanes);
    int32_t first;
    __builtin_memcpy(&first, lanes, sizeof first);
    return first;
  }

  static constexpr CpuRoofs table() {
    return {
        .flops_per_round = 2 * kChains * V::kWidth, .fma_loop = &fma_loop, .read_all = &read_all};
  }
};

}  // namespace isobit

// The operators of the MLP that are neither sums nor norms: silu_mul, gelu_mul, soft_cap, and the
// combination of experts. Elements are independent; pieces of rows are divided over threads.
#pragma once

#include "kernels/cpu/cpu_partial.h"
#include "kernels/cpu/cpu_work.h"
#include "kernels/ops.h"
#include "numeric/elementary.h"

namespace isobit {

template <class V>
struct Activations {
  static constexpr int64_t kPiece = 1024;        // an element costs about eight times one of
                                                 // rms_norm
  static constexpr int64_t kClaimedAhead = 256;  // floats

  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
  static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

  ISOBIT_LANES_INLINE static V silu(const V& g) {
    return g / (V::broadcast(1.0f) + exp_lanes(negate(g)));
  }
  ISOBIT_LANES_INLINE static V gelu_tanh(const V& g) {
    const V t = fma(V::broadcast(0.044715f), (g * g) * g, g);
    const V root_two_over_pi = V::broadcast(static_cast<float>(0x1.9884533d43651p-1));
    return (V::broadcast(0.5f) * g) * (V::broadcast(1.0f) + tanh_lanes(t * root_two_over_pi));
  }
  ISOBIT_LANES_INLINE static V gelu_erf(const V& g) {
    const V root_half = V::broadcast(static_cast<float>(0x1.6a09e667f3bcdp-1));
    return (V::broadcast(0.5f) * g) * (V::broadcast(1.0f) + erf_lanes(g * root_half));
  }

  // ---- silu_mul, gelu_mul ----

  struct GateJob {
    const float* gate_up;  // (n_rows, 2 * width)
    int64_t width, pieces_per_row;
    float* y;
  };

  template <V (*kFunction)(const V&)>
  static void piece(const float* gate, const float* up, int64_t n_elems, float* y) {
    for (int64_t i = 0; i < n_elems; i += V::kWidth) {
      const int64_t n = n_elems - i;
      claim_line(y + i + kClaimedAhead);
      const V g = load_first<V>(gate + i, n);
      store_first<V>(kFunction(g) * load_first<V>(up + i, n), y + i, n);
    }
  }

  template <V (*kFunction)(const V&)>
  static void gated(const float* gate_up, int64_t n_rows, int64_t width, float* y,
                    ThreadPool& pool) {
    const GateJob job{gate_up, width, divide_up(width, kPiece), y};
    run_items(pool, n_rows * job.pieces_per_row, &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const GateJob*>(p);
      const int64_t row = item / j.pieces_per_row, first = item % j.pieces_per_row * kPiece;
      const float* gate = j.gate_up + row * 2 * j.width + first;
      piece<kFunction>(gate, gate + j.width, smaller(kPiece, j.width - first),
                       j.y + row * j.width + first);
    });
  }

  static void silu_mul(const float* gate_up, int64_t n_rows, int64_t width, float* y,
                       ThreadPool& pool) {
    gated<silu>(gate_up, n_rows, width, y, pool);
  }

  static void gelu_mul(Gelu form, const float* gate_up, int64_t n_rows, int64_t width, float* y,
                       ThreadPool& pool) {
    if (form == Gelu::kErf) return gated<gelu_erf>(gate_up, n_rows, width, y, pool);
    gated<gelu_tanh>(gate_up, n_rows, width, y, pool);
  }

  // ---- soft_cap ----

  struct CapJob {
    float* x;
    int64_t n;
    float t;
  };

  static void soft_cap(float* x, int64_t n, float t, ThreadPool& pool) {
    const CapJob job{x, n, t};
    run_items(pool, divide_up(n, kPiece), &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const CapJob*>(p);
      const int64_t last = smaller((item + 1) * kPiece, j.n);
      const V cap = V::broadcast(j.t);
      for (int64_t i = item * kPiece; i < last; i += V::kWidth) {
        store_first<V>(cap * tanh_lanes(load_first<V>(j.x + i, last - i) / cap), j.x + i, last - i);
      }
    });
  }

  // ---- combine_experts ----

  struct CombineJob {
    const ExpertOutputs* outputs;
    int64_t n_out;
    float* y;
  };

  // Elements [at, at + n) of one segment: the chain over the row's choices.
  static V chain(const ExpertOutputs& outputs, int64_t row, int64_t segment, int64_t at,
                 int64_t n) {
    V sum = V::broadcast(0.0f);
    for (int64_t i = row * outputs.top_k; i < (row + 1) * outputs.top_k; ++i) {
      const float* out = outputs.first[i] + segment * outputs.segment_stride[i];
      sum = fma(V::broadcast(outputs.weights[i]), load_first<V>(out + at, n), sum);
    }
    return sum;
  }

  // The balanced rule over the segments: a binary counter of sums.
  static V over_segments(const ExpertOutputs& outputs, int64_t row, int64_t at, int64_t n) {
    V waiting[8];  // R divides 24
    int64_t depth = 0;
    for (int64_t s = 0; s < outputs.n_segments; ++s) {
      V sum = chain(outputs, row, s, at, n);
      for (int64_t digits = s; digits & 1; digits >>= 1) sum = waiting[--depth] + sum;
      waiting[depth++] = sum;
    }
    V sum = waiting[--depth];
    while (depth > 0) sum = waiting[--depth] + sum;
    return sum;
  }

  static void combine_experts(const ExpertOutputs& outputs, int64_t n_out, float* y,
                              ThreadPool& pool) {
    const CombineJob job{&outputs, n_out, y};
    run_items(pool, outputs.n_rows, &job, [](const void* p, int64_t row) {
      const auto& j = *static_cast<const CombineJob*>(p);
      for (int64_t i = 0; i < j.n_out; i += V::kWidth) {
        store_first<V>(over_segments(*j.outputs, row, i, j.n_out - i), j.y + row * j.n_out + i,
                       j.n_out - i);
      }
    });
  }
};

}  // namespace isobit

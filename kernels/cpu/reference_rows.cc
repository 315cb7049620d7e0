// The operators that treat each row, or each element, alone: rms_norm, norm_heads, residual,
// silu_mul, gelu_mul, soft_cap, rope, log_sum_exp.
#include <cmath>

#include "base/error.h"
#include "kernels/cpu/reference_operators.h"
#include "numeric/lanes_scalar.h"
#include "numeric/sums.h"

namespace isobit::reference {

namespace {

void norm_row(const float* row, const float* w, float eps, int64_t dim, float* out) {
  Lanes<64> squares;
  for (int64_t i = 0; i < dim; ++i) squares.add_square(static_cast<size_t>(i), row[i]);
  const float inverse = 1.0f / std::sqrt(squares.fold() / static_cast<float>(dim) + eps);
  for (int64_t i = 0; i < dim; ++i) out[i] = (row[i] * inverse) * w[i];
}

float gelu(Gelu form, float g) {
  constexpr auto kRootTwoOverPi = static_cast<float>(0x1.9884533d43651p-1);
  constexpr auto kRootHalf = static_cast<float>(0x1.6a09e667f3bcdp-1);
  if (form == Gelu::kErf) return (0.5f * g) * (1.0f + erf_f32(g * kRootHalf));
  const float t = std::fma(0.044715f, (g * g) * g, g);
  return (0.5f * g) * (1.0f + tanh_f32(t * kRootTwoOverPi));
}

}  // namespace

void rms_norm(const float* x, const float* w, float eps, int64_t n_rows, int64_t dim, float* y,
              ThreadPool& pool) {
  pool.run(static_cast<size_t>(n_rows), [&](size_t r, int) {
    const int64_t at = static_cast<int64_t>(r) * dim;
    norm_row(x + at, w, eps, dim, y + at);
  });
}

void norm_heads(float* x, int64_t row_stride, int64_t n_heads, int64_t dim, const float* w,
                float eps, int64_t n_rows, ThreadPool& pool) {
  pool.run(static_cast<size_t>(n_rows), [&](size_t r, int) {
    for (int64_t h = 0; h < n_heads; ++h) {
      float* head = x + static_cast<int64_t>(r) * row_stride + h * dim;
      norm_row(head, w, eps, dim, head);
    }
  });
}

void residual(float* x, const float* f, int64_t n, ThreadPool&) {
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] + f[i];
}

void silu_mul(const float* gate_up, int64_t n_rows, int64_t width, float* y, ThreadPool& pool) {
  pool.run(static_cast<size_t>(n_rows), [&](size_t r, int) {
    const float* gate = gate_up + static_cast<int64_t>(r) * 2 * width;
    const float* up = gate + width;
    float* out = y + static_cast<int64_t>(r) * width;
    for (int64_t i = 0; i < width; ++i) out[i] = (gate[i] / (1.0f + exp_f32(-gate[i]))) * up[i];
  });
}

void gelu_mul(Gelu form, const float* gate_up, int64_t n_rows, int64_t width, float* y,
              ThreadPool& pool) {
  pool.run(static_cast<size_t>(n_rows), [&](size_t r, int) {
    const float* gate = gate_up + static_cast<int64_t>(r) * 2 * width;
    const float* up = gate + width;
    float* out = y + static_cast<int64_t>(r) * width;
    for (int64_t i = 0; i < width; ++i) out[i] = gelu(form, gate[i]) * up[i];
  });
}

void soft_cap(float* x, int64_t n, float t, ThreadPool&) {
  for (int64_t i = 0; i < n; ++i) x[i] = t * tanh_f32(x[i] / t);
}

void rope(float* x, int64_t row_stride, int64_t n_heads, const RopeView& table,
          const BatchView& batch, ThreadPool& pool) {
  const int64_t half = table.rotary_dim / 2;
  pool.run(static_cast<size_t>(batch.n_rows), [&](size_t r, int) {
    const float* cos = table.cos + batch.positions[r] * half;
    const float* sin = table.sin + batch.positions[r] * half;
    for (int64_t h = 0; h < n_heads; ++h) {
      float* head = x + static_cast<int64_t>(r) * row_stride + h * table.head_dim;
      for (int64_t i = 0; i < half; ++i) {
        const float x0 = head[i], x1 = head[i + half];
        head[i] = std::fma(x0, cos[i], -(x1 * sin[i]));
        head[i + half] = std::fma(x1, cos[i], x0 * sin[i]);
      }
    }
  });
}

void log_sum_exp(const float* logits, int64_t n_rows, int64_t vocab, float* max, float* sum,
                 ThreadPool& pool) {
  ISOBIT_REQUIRE(vocab > 0);
  pool.run(static_cast<size_t>(n_rows), [&](size_t r, int) {
    const float* row = logits + static_cast<int64_t>(r) * vocab;
    float largest = row[0];
    for (int64_t i = 1; i < vocab; ++i) largest = row[i] > largest ? row[i] : largest;
    max[r] = largest;
    sum[r] = vocabulary_sum(vocab, [&](int64_t i) { return exp_f32(row[i] - largest); });
  });
}

}  // namespace isobit::reference

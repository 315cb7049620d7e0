// The operators that treat each row, or each element, alone: rms_norm, residual, silu_mul, rope,
// log_sum_exp.
#include <cmath>

#include "base/error.h"
#include "kernels/cpu/reference_operators.h"
#include "numeric/lanes_scalar.h"
#include "numeric/sums.h"

namespace isobit::reference {

void rms_norm(const float* x, const float* w, float eps, int64_t n_rows, int64_t dim, float* y,
              ThreadPool& pool) {
  pool.run(static_cast<size_t>(n_rows), [&](size_t r, int) {
    const float* row = x + static_cast<int64_t>(r) * dim;
    float* out = y + static_cast<int64_t>(r) * dim;
    Lanes<64> squares;
    for (int64_t i = 0; i < dim; ++i) squares.add_square(static_cast<size_t>(i), row[i]);
    const float inverse = 1.0f / std::sqrt(squares.fold() / static_cast<float>(dim) + eps);
    for (int64_t i = 0; i < dim; ++i) out[i] = (row[i] * inverse) * w[i];
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

void rope(float* x, int64_t row_stride, int64_t n_heads, const RopeView& table,
          const BatchView& batch, ThreadPool& pool) {
  const int64_t half = table.head_dim / 2;
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

// The table of `cpu-adaptive`. Its row operators are the `cpu` set's, rounded to bf16 as they
// leave: in an engine that computes in bf16 each kernel works in f32 inside and stores bf16.
#include <algorithm>

#include "kernels/adaptive/adaptive.h"
#include "kernels/adaptive/adaptive_operators.h"
#include "kernels/adaptive/row_work.h"
#include "kernels/registry.h"

namespace isobit {
namespace adaptive {
namespace {

constexpr int64_t kValuesPerItem = 16384;

const KernelSet& cpu() {
  static const KernelSet& set = kernel_set("cpu");
  return set;
}

void rms_norm(const float* x, const float* w, float eps, int64_t n_rows, int64_t dim, float* y,
              ThreadPool& pool) {
  cpu().rms_norm(x, w, eps, n_rows, dim, y, pool);
  round_activations(y, n_rows * dim, pool);
}

void norm_heads(float* x, int64_t row_stride, int64_t n_heads, int64_t dim, const float* w,
                float eps, int64_t n_rows, ThreadPool& pool) {
  cpu().norm_heads(x, row_stride, n_heads, dim, w, eps, n_rows, pool);
  for (int64_t r = 0; r < n_rows; ++r) row_work().round_to_bf16(x + r * row_stride, n_heads * dim);
}

void residual(float* x, const float* f, int64_t n, ThreadPool& pool) {
  cpu().residual(x, f, n, pool);
  round_activations(x, n, pool);
}

void silu_mul(const float* gate_up, int64_t n_rows, int64_t width, float* y, ThreadPool& pool) {
  cpu().silu_mul(gate_up, n_rows, width, y, pool);
  round_activations(y, n_rows * width, pool);
}

void gelu_mul(Gelu form, const float* gate_up, int64_t n_rows, int64_t width, float* y,
              ThreadPool& pool) {
  cpu().gelu_mul(form, gate_up, n_rows, width, y, pool);
  round_activations(y, n_rows * width, pool);
}

void combine_experts(const ExpertOutputs& outputs, int64_t n_out, float* y, ThreadPool& pool) {
  cpu().combine_experts(outputs, n_out, y, pool);
  round_activations(y, outputs.n_rows * n_out, pool);
}

// One sum over all of K, as the whole of the first segment.
void matmul_segments(const PackedMatrix& w, const float* x, int64_t n_rows, float* y,
                     ThreadPool& pool) {
  matmul(w, x, n_rows, y, pool);
  std::fill(y + n_rows * w.n_out, y + w.n_segments * n_rows * w.n_out, 0.0f);
}

void rope(float* x, int64_t row_stride, int64_t n_heads, const RopeView& table,
          const BatchView& batch, ThreadPool& pool) {
  cpu().rope(x, row_stride, n_heads, table, batch, pool);
  for (int64_t r = 0; r < batch.n_rows; ++r) {
    row_work().round_to_bf16(x + r * row_stride, n_heads * table.head_dim);
  }
}

}  // namespace

void round_activations(float* values, int64_t n, ThreadPool& pool) {
  const int64_t n_items = (n + kValuesPerItem - 1) / kValuesPerItem;
  pool.run(static_cast<size_t>(n_items), [&](size_t i, int) {
    const int64_t first = static_cast<int64_t>(i) * kValuesPerItem;
    row_work().round_to_bf16(values + first,
                             n - first < kValuesPerItem ? n - first : kValuesPerItem);
  });
}

}  // namespace adaptive

const KernelSet& adaptive_kernel_set() {
  static const KernelSet set = {
      .name = "cpu-adaptive",
      .isa = "openblas",
      .claims = {},
      .rounds_activations_to_bf16 = true,
      .pack = adaptive::pack,
      .matmul = adaptive::matmul,
      .matmul_segments = adaptive::matmul_segments,
      .rms_norm = adaptive::rms_norm,
      .norm_heads = adaptive::norm_heads,
      .residual = adaptive::residual,
      .silu_mul = adaptive::silu_mul,
      .gelu_mul = adaptive::gelu_mul,
      .soft_cap = adaptive::cpu().soft_cap,
      .route = adaptive::cpu().route,
      .combine_experts = adaptive::combine_experts,
      .rope = adaptive::rope,
      .kv_write = adaptive::cpu().kv_write,
      .attention = adaptive::attention,
      .log_sum_exp = adaptive::cpu().log_sum_exp,
  };
  return set;
}

}  // namespace isobit

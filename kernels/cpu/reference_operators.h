// The functions behind the table of `reference`; each operator's contract block is in
// kernels/ops.h.
#pragma once

#include "kernels/ops.h"

namespace isobit::reference {

std::unique_ptr<PackedMatrix> pack(std::span<const MatrixPart> parts, int64_t n_segments,
                                   ThreadPool& pool);
void matmul(const PackedMatrix& w, const float* x, int64_t n_rows, float* y, ThreadPool& pool);
void rms_norm(const float* x, const float* w, float eps, int64_t n_rows, int64_t dim, float* y,
              ThreadPool& pool);
void matmul_segments(const PackedMatrix& w, const float* x, int64_t n_rows, float* y,
                     ThreadPool& pool);
void norm_heads(float* x, int64_t row_stride, int64_t n_heads, int64_t dim, const float* w,
                float eps, int64_t n_rows, ThreadPool& pool);
void residual(float* x, const float* f, int64_t n, ThreadPool& pool);
void silu_mul(const float* gate_up, int64_t n_rows, int64_t width, float* y, ThreadPool& pool);
void gelu_mul(Gelu form, const float* gate_up, int64_t n_rows, int64_t width, float* y,
              ThreadPool& pool);
void soft_cap(float* x, int64_t n, float t, ThreadPool& pool);
void route(const float* logits, int64_t n_rows, int64_t n_experts, int64_t top_k,
           Renormalise renormalise, int32_t* ids, float* weights, ThreadPool& pool);
void combine_experts(const ExpertOutputs& outputs, int64_t n_out, float* y, ThreadPool& pool);
void rope(float* x, int64_t row_stride, int64_t n_heads, const RopeView& table,
          const BatchView& batch, ThreadPool& pool);
void kv_write(const float* k, const float* v, int64_t row_stride, const BatchView& batch,
              const KvLayerView& cache, ThreadPool& pool);
void attention(const float* q, int64_t q_stride, const AttentionShape& shape,
               const BatchView& batch, const KvLayerView& cache, float* out, ThreadPool& pool);
void log_sum_exp(const float* logits, int64_t n_rows, int64_t vocab, float* max, float* sum,
                 ThreadPool& pool);
void elementary(Elementary function, const float* x, int64_t n, float* y);

// Where element d of a position's key or value lies in the paged cache, counted in elements.
// `block` is the cache block, `slot` the position within it (0..15).
inline size_t key_index(const KvLayerView& cache, int64_t block, int64_t kv_head, int64_t d,
                        int64_t slot) {
  return static_cast<size_t>(
      ((block * cache.n_kv_heads + kv_head) * cache.head_dim + d) * kKvBlockTokens + slot);
}
inline size_t value_index(const KvLayerView& cache, int64_t block, int64_t kv_head, int64_t slot,
                          int64_t d) {
  return static_cast<size_t>(
      ((block * cache.n_kv_heads + kv_head) * kKvBlockTokens + slot) * cache.head_dim + d);
}

// An entry as f32: exact for each KvDType.
float load_kv(KvDType dtype, const std::byte* entries, size_t index);
// v rounded to the cache's dtype, to nearest even, subnormals kept.
void store_kv(KvDType dtype, std::byte* entries, size_t index, float v);

}  // namespace isobit::reference

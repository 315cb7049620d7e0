// The functions behind the table of `cpu-adaptive`; each operator's contract block is in
// kernels/ops.h, without its order.
#pragma once

#include "kernels/ops.h"

namespace isobit::adaptive {

std::unique_ptr<PackedMatrix> pack(std::span<const MatrixPart> parts, int64_t n_segments,
                                   ThreadPool& pool);
void matmul(const PackedMatrix& w, const float* x, int64_t n_rows, float* y, ThreadPool& pool);
void attention(const float* q, int64_t q_stride, const AttentionShape& shape,
               const BatchView& batch, const KvLayerView& cache, float* out, ThreadPool& pool);

// Rounds n values to bf16, to nearest even, in place.
void round_activations(float* values, int64_t n, ThreadPool& pool);

// How many parts each sequence's positions are cut into: enough work for a GPU's many cores when
// the step is small, one part when it is large. Flash decoding does the same, and it is why its
// results depend on the batch.
int64_t splits_for_load(int64_t n_row_tiles, int64_t n_kv_heads);

}  // namespace isobit::adaptive

// What one instruction set does for `cpu-adaptive`: plain function pointers, so that the files
// compiled for AVX2 emit nothing that another file could emit too (the linker keeps one copy of an
// inline function, for every processor).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ops.h"

namespace isobit::adaptive {

// Some query rows of one sequence and the query heads of one KV head, against cache blocks
// [first_block, end_block).
struct AttendItem {
  const float* q = nullptr;  // query of (row, head): q + row * q_stride + head * head_dim
  int64_t q_stride = 0;
  int64_t n_rows = 0;
  int64_t n_heads = 0;
  const int32_t* positions = nullptr;  // (n_rows)
  const int32_t* block_table = nullptr;
  int64_t first_block = 0;
  int64_t end_block = 0;
  int64_t kv_head = 0;
  const AttentionShape* shape = nullptr;
  const KvLayerView* cache = nullptr;
  // Out, per (row, head): maximum m of the scores, sum l of 2^(s - m), then o (head_dim), the sum
  // of 2^(s - m) v. Where a row sees no position of the range, m = -inf and the rest is 0.
  float* partial = nullptr;  // of (row, head): record(row, head)
  int64_t partial_row_stride = 0;
  int64_t partial_head_stride = 0;

  float* record(int64_t row, int64_t head) const {
    return partial + row * partial_row_stride + head * partial_head_stride;
  }
};

// Floats of scratch that one AttendItem needs.
inline int64_t attend_scratch_floats(const AttendItem& item) {
  const int64_t block_floats = item.cache->head_dim * kKvBlockTokens;
  return 2 * block_floats +
         item.n_rows * item.n_heads * (item.end_block - item.first_block) * kKvBlockTokens;
}

struct RowWork {
  void (*round_to_bf16)(float* values, int64_t n);
  // As dequantise_row, for every dtype but F32.
  void (*dequantise)(DType dtype, const std::byte* row, int64_t n, float* out);
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*attend)(const AttendItem& item, float* scratch);
};

extern const RowWork kRowWorkPortable;
#if defined(__x86_64__)
extern const RowWork kRowWorkAvx2;
#endif

// The best that this machine has.
const RowWork& row_work();

}  // namespace isobit::adaptive

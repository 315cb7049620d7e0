// The operators that work on one row at a time: rms_norm, norm_heads, residual, rope, kv_write,
// log_sum_exp. Elements are independent, or meet in Lanes(64); rows are divided over threads.
#pragma once

#include "kernels/cpu/cpu_partial.h"
#include "kernels/cpu/cpu_work.h"
#include "kernels/ops.h"
#include "numeric/elementary.h"

namespace isobit {

template <class V>
struct RowOperators {
  static constexpr int64_t kItemFloats =
      8192;  // below this much work a second thread costs more than it brings
  static constexpr int64_t kLaneCount = 64;
  static constexpr int64_t kVocabBlock = 4096;
  static constexpr int64_t kClaimedAhead = 256;  // floats

  static int64_t rows_per_item(int64_t row_floats) {
    return row_floats >= kItemFloats ? 1 : kItemFloats / (row_floats > 0 ? row_floats : 1);
  }
  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
  static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

  // ---- rms_norm ----

  struct NormJob {
    const float *x, *w;
    float eps;
    int64_t n_rows, dim, rows_per_item;
    float* y;
  };

  static float sum_of_squares(const float* x, int64_t dim) {
    LaneSums<V, kLaneCount> sums;
    for (int64_t i = 0; i < dim; i += kLaneCount) {
#pragma GCC unroll 8
      for (int j = 0; j < sums.kVectors; ++j) {
        const int64_t at = i + j * V::kWidth, n = dim - at;
        if (n >= V::kWidth) {
          const V e = V::load(x + at);
          sums.v[j] = fma(e, e, sums.v[j]);
        } else if (n > 0) {
          const V e = load_first<V>(x + at, n);
          sums.v[j] = select(first_lanes<V>(n), fma(e, e, sums.v[j]), sums.v[j]);
        }
      }
    }
    return sums.fold();
  }

  static void norm_row(const float* x, const float* w, float eps, int64_t dim, float* y) {
    for (int64_t i = 0; i < dim; i += 16) claim_line(y + i);
    const float mean = sum_of_squares(x, dim) / static_cast<float>(dim);
    const V inverse = V::broadcast(1.0f / __builtin_sqrtf(mean + eps));
    for (int64_t i = 0; i < dim; i += V::kWidth) {
      const int64_t n = dim - i;
      store_first<V>((load_first<V>(x + i, n) * inverse) * load_first<V>(w + i, n), y + i, n);
    }
  }

  static void rms_norm(const float* x, const float* w, float eps, int64_t n_rows, int64_t dim,
                       float* y, ThreadPool& pool) {
    const NormJob job{x, w, eps, n_rows, dim, rows_per_item(dim), y};
    run_items(pool, divide_up(n_rows, job.rows_per_item), &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const NormJob*>(p);
      const int64_t first = item * j.rows_per_item,
                    last = smaller(first + j.rows_per_item, j.n_rows);
      for (int64_t r = first; r < last; ++r)
        norm_row(j.x + r * j.dim, j.w, j.eps, j.dim, j.y + r * j.dim);
    });
  }

  // ---- norm_heads ----

  struct HeadNormJob {
    float* x;
    int64_t row_stride, n_heads, dim;
    const float* w;
    float eps;
    int64_t n_rows, rows_per_item;
  };

  static void norm_heads(float* x, int64_t row_stride, int64_t n_heads, int64_t dim, const float* w,
                         float eps, int64_t n_rows, ThreadPool& pool) {
    const HeadNormJob job{x, row_stride, n_heads, dim,
                          w, eps,        n_rows,  rows_per_item(n_heads * dim)};
    run_items(pool, divide_up(n_rows, job.rows_per_item), &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const HeadNormJob*>(p);
      const int64_t first = item * j.rows_per_item,
                    last = smaller(first + j.rows_per_item, j.n_rows);
      for (int64_t r = first; r < last; ++r) {
        for (int64_t h = 0; h < j.n_heads; ++h) {
          float* head = j.x + r * j.row_stride + h * j.dim;
          norm_row(head, j.w, j.eps, j.dim, head);
        }
      }
    });
  }

  // ---- residual ----

  struct ResidualJob {
    float* x;
    const float* f;
    int64_t n;
  };

  static void residual(float* x, const float* f, int64_t n, ThreadPool& pool) {
    const ResidualJob job{x, f, n};
    run_items(pool, divide_up(n, kItemFloats), &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const ResidualJob*>(p);
      const int64_t last = smaller((item + 1) * kItemFloats, j.n);
      for (int64_t i = item * kItemFloats; i < last; i += V::kWidth) {
        claim_line(j.x + i + kClaimedAhead);
        store_first<V>(load_first<V>(j.x + i, last - i) + load_first<V>(j.f + i, last - i), j.x + i,
                       last - i);
      }
    });
  }

  // ---- rope ----

  struct RopeJob {
    float* x;
    int64_t row_stride, n_heads;
    RopeView table;
    const int32_t* positions;
    int64_t n_rows, rows_per_item;
  };

  static void rotate_head(float* x, const float* cos, const float* sin, int64_t half) {
    for (int64_t i = 0; i < half; i += V::kWidth) {
      const int64_t n = half - i;
      const V x0 = load_first<V>(x + i, n), x1 = load_first<V>(x + half + i, n);
      const V c = load_first<V>(cos + i, n), s = load_first<V>(sin + i, n);
      store_first<V>(fma(x0, c, negate(x1 * s)), x + i, n);
      store_first<V>(fma(x1, c, x0 * s), x + half + i, n);
    }
  }

  static void rope(float* x, int64_t row_stride, int64_t n_heads, const RopeView& table,
                   const BatchView& batch, ThreadPool& pool) {
    const RopeJob job{x,
                      row_stride,
                      n_heads,
                      table,
                      batch.positions,
                      batch.n_rows,
                      rows_per_item(n_heads * table.head_dim)};
    run_items(pool, divide_up(batch.n_rows, job.rows_per_item), &job,
              [](const void* p, int64_t item) {
                const auto& j = *static_cast<const RopeJob*>(p);
                const int64_t half = j.table.rotary_dim / 2, first = item * j.rows_per_item;
                const int64_t last = smaller(first + j.rows_per_item, j.n_rows);
                for (int64_t r = first; r < last; ++r) {
                  const int64_t at = j.positions[r] * half;
                  for (int64_t h = 0; h < j.n_heads; ++h) {
                    rotate_head(j.x + r * j.row_stride + h * j.table.head_dim, j.table.cos + at,
                                j.table.sin + at, half);
                  }
                }
              });
  }

  // ---- kv_write ----

  struct KvWriteJob {
    const float *k, *v;
    int64_t row_stride;
    const BatchView* batch;
    const KvLayerView* cache;
    int64_t rows_per_item;
  };

  // Rounds elements [0, n) of x to `dtype` and stores element i at out + i * stride elements.
  static void store_rounded(const float* x, int64_t n, KvDType dtype, std::byte* out,
                            int64_t stride) {
    const int64_t size = dtype == KvDType::kF32 ? 4 : 2;
    for (int64_t i = 0; i < n; i += V::kWidth) {
      const V e = load_first<V>(x + i, n - i);
      const int64_t count = smaller(V::kWidth, n - i);
      alignas(64) std::byte rounded[V::kWidth * 4];
      switch (dtype) {
        case KvDType::kF32:
          e.store(reinterpret_cast<float*>(rounded));
          break;
        case KvDType::kF16:
          e.store_f16(rounded);
          break;
        case KvDType::kBF16:
          e.store_bf16(rounded);
          break;
      }
      if (stride == 1) {
        __builtin_memcpy(out + i * size, rounded, static_cast<size_t>(count * size));
      } else if (size == 4) {
        for (int64_t c = 0; c < count; ++c)
          __builtin_memcpy(out + (i + c) * stride * 4, rounded + c * 4, 4);
      } else {
        for (int64_t c = 0; c < count; ++c)
          __builtin_memcpy(out + (i + c) * stride * 2, rounded + c * 2, 2);
      }
    }
  }

  static void write_row(const KvWriteJob& job, int64_t row) {
    const KvLayerView& cache = *job.cache;
    const int64_t position = job.batch->positions[row], in_block = position % kKvBlockTokens;
    const int32_t* table = job.batch->block_tables[job.batch->sequence_of_row[row]];
    const int64_t block = table[position / kKvBlockTokens];
    const int64_t size = cache.dtype == KvDType::kF32 ? 4 : 2;
    for (int64_t h = 0; h < cache.n_kv_heads; ++h) {
      const int64_t head = (block * cache.n_kv_heads + h) * cache.head_dim * kKvBlockTokens;
      const int64_t from = row * job.row_stride + h * cache.head_dim;
      store_rounded(job.k + from, cache.head_dim, cache.dtype,
                    cache.keys + (head + in_block) * size, kKvBlockTokens);
      store_rounded(job.v + from, cache.head_dim, cache.dtype,
                    cache.values + (head + in_block * cache.head_dim) * size, 1);
    }
  }

  static void kv_write(const float* k, const float* v, int64_t row_stride, const BatchView& batch,
                       const KvLayerView& cache, ThreadPool& pool) {
    const int64_t rows = rows_per_item(8 * cache.n_kv_heads * cache.head_dim);
    const KvWriteJob job{k, v, row_stride, &batch, &cache, rows};
    run_items(pool, divide_up(batch.n_rows, rows), &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const KvWriteJob*>(p);
      const int64_t first = item * j.rows_per_item,
                    last = smaller(first + j.rows_per_item, j.batch->n_rows);
      for (int64_t r = first; r < last; ++r) write_row(j, r);
    });
  }

  // ---- log_sum_exp ----

  struct VocabJob {
    const float* logits;
    int64_t vocab, blocks_per_row;
    float *max, *sum;  // (n_rows)
    float* of_block;   // (n_rows, blocks_per_row): maxima, then sums
  };

  static float largest(const float* z, int64_t n_elems) {
    V m = V::broadcast(-__builtin_inff());
    for (int64_t i = 0; i < n_elems; i += V::kWidth) {
      const int64_t n = n_elems - i;
      if (n >= V::kWidth) {
        m = larger(m, V::load(z + i));
      } else {
        m = select(first_lanes<V>(n), larger(m, load_first<V>(z + i, n)), m);
      }
    }
    return largest_lane(m);
  }

  static float sum_of_exponentials(const float* z, int64_t n_elems, float max) {
    LaneSums<V, kLaneCount> sums;
    const V shift = V::broadcast(max);
    for (int64_t i = 0; i < n_elems; i += kLaneCount) {
      for (int j = 0; j < sums.kVectors; ++j) {
        const int64_t at = i + j * V::kWidth, n = n_elems - at;
        if (n <= 0) break;
        const V added = sums.v[j] + exp_lanes(load_first<V>(z + at, n) - shift);
        sums.v[j] = n >= V::kWidth ? added : select(first_lanes<V>(n), added, sums.v[j]);
      }
    }
    return sums.fold();
  }

  // The balanced rule over parts[0..n), in place: a binary counter kept at the front of the array.
  static float balanced_in_place(float* parts, int64_t n) {
    int64_t depth = 0;
    for (int64_t i = 0; i < n; ++i) {
      float part = parts[i];
      for (int64_t digits = i; digits & 1; digits >>= 1) part = parts[--depth] + part;
      parts[depth++] = part;
    }
    float sum = parts[--depth];
    while (depth > 0) sum = parts[--depth] + sum;
    return sum;
  }

  static void finish_max(const VocabJob& job, int64_t row) {
    float m = largest(job.of_block + row * job.blocks_per_row, job.blocks_per_row);
    const float* z = job.logits + row * job.vocab;
    // +0 and -0 compare the same; the lowest index decides which of them the maximum is.
    for (int64_t i = 0; m == 0.0f && i < job.vocab; ++i) {
      if (z[i] == 0.0f) {
        m = z[i];
        break;
      }
    }
    job.max[row] = m;
  }

  static void log_sum_exp(const float* logits, int64_t n_rows, int64_t vocab, float* max,
                          float* sum, ThreadPool& pool) {
    if (n_rows <= 0) return;
    const int64_t blocks = divide_up(vocab, kVocabBlock);
    const VocabJob job{logits, vocab, blocks, max, sum, thread_scratch(n_rows * blocks)};
    run_items(pool, n_rows * blocks, &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const VocabJob*>(p);
      const int64_t row = item / j.blocks_per_row, first = item % j.blocks_per_row * kVocabBlock;
      j.of_block[item] =
          largest(j.logits + row * j.vocab + first, smaller(kVocabBlock, j.vocab - first));
    });
    for (int64_t r = 0; r < n_rows; ++r) finish_max(job, r);
    run_items(pool, n_rows * blocks, &job, [](const void* p, int64_t item) {
      const auto& j = *static_cast<const VocabJob*>(p);
      const int64_t row = item / j.blocks_per_row, first = item % j.blocks_per_row * kVocabBlock;
      j.of_block[item] = sum_of_exponentials(j.logits + row * j.vocab + first,
                                             smaller(kVocabBlock, j.vocab - first), j.max[row]);
    });
    for (int64_t r = 0; r < n_rows; ++r)
      sum[r] = balanced_in_place(job.of_block + r * blocks, blocks);
  }
};

}  // namespace isobit

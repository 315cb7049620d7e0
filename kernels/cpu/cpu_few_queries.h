// Scores and values of one split for a few queries at one position, as in decode: cached keys and
// values become f32 in registers and are used at once, which is the direct kernels' idea
// (cpu_direct.h) on the cache's layout.
#pragma once

#include "kernels/cpu/cpu_leaf.h"
#include "kernels/ops.h"

namespace isobit {

template <class V>
struct StoredF32 {
  static constexpr int64_t kBytes = 4;
  ISOBIT_LANES_INLINE static V load(const std::byte* base, int64_t element) {
    return V::load(base + element * 4);
  }
};
template <class V>
struct StoredF16 {
  static constexpr int64_t kBytes = 2;
  ISOBIT_LANES_INLINE static V load(const std::byte* base, int64_t element) {
    return V::load_f16(base + element * 2);
  }
};
template <class V>
struct StoredBf16 {
  static constexpr int64_t kBytes = 2;
  ISOBIT_LANES_INLINE static V load(const std::byte* base, int64_t element) {
    return V::load_bf16(base + element * 2);
  }
};

// REQUIRES: head_dim is a multiple of 32, and 1 <= n_queries <= V::kDirectRows.
template <class V>
struct FewQueries {
  static constexpr int64_t kColumns = kPanelColumns;
  static constexpr int64_t kVectors = kColumns / V::kWidth;
  static constexpr int64_t kPerBlock = kKvBlockTokens / V::kWidth;  // vectors

  static int64_t block_base(const KvLayerView& cache, int64_t block, int64_t kv_head) {
    return (block * cache.n_kv_heads + kv_head) * cache.head_dim * kKvBlockTokens;
  }

  // The keys that are read so many blocks from now: past the last block, those of the next KV head,
  // which is most often the next item of the thread.
  static constexpr int64_t kBlocksAhead = 4;
  static int64_t ahead(const KvLayerView& cache, int64_t kv_head, const int32_t* blocks,
                       int64_t n_blocks, int64_t b) {
    if (b < n_blocks) return block_base(cache, blocks[b], kv_head);
    const int64_t next_head = kv_head + 1 < cache.n_kv_heads ? kv_head + 1 : kv_head;
    return block_base(cache, blocks[(b - n_blocks) % n_blocks], next_head);
  }

  ISOBIT_LANES_INLINE static void prefetch_row(const std::byte* base, int64_t offset) {
    __builtin_prefetch(base + offset, 0, 2);
  }

  // How many vectors go at once: few enough to keep everything in registers.
  static constexpr int at_once(int rows) {
    constexpr int kAll = static_cast<int>(kVectors);
    return kAll <= 2 || rows <= 2 ? kAll : 2;
  }

  // scores: (kRows, 128). Of an odd last block the second half of the columns repeats the first:
  // those scores are past every position that the queries see.
  template <class Stored, int kRows>
  static void scores_of(const KvLayerView& cache, int64_t kv_head, const int32_t* blocks,
                        int64_t n_blocks, const float* queries, float* scores) {
    const int64_t dim = cache.head_dim;
    constexpr int kAtOnce = at_once(kRows);
    for (int64_t b = 0; b < n_blocks; b += 2) {
      const int64_t bases[2] = {block_base(cache, blocks[b], kv_head),
                                block_base(cache, blocks[b + 1 < n_blocks ? b + 1 : b], kv_head)};
      const int64_t soon[2] = {ahead(cache, kv_head, blocks, n_blocks, b + kBlocksAhead),
                               ahead(cache, kv_head, blocks, n_blocks, b + kBlocksAhead + 1)};
      for (int i0 = 0; i0 < kVectors; i0 += kAtOnce) {
        LeafSums<V, kRows, kAtOnce> sums;
        for (int64_t d = 0; d < dim; ++d) {
          if (i0 == 0) {
            // Blocks are small and scattered: the hardware does not guess the next one.
            prefetch_row(cache.keys, (soon[0] + d * kKvBlockTokens) * Stored::kBytes);
            prefetch_row(cache.keys, (soon[1] + d * kKvBlockTokens) * Stored::kBytes);
            prefetch_row(cache.values, (bases[0] + d * kKvBlockTokens) * Stored::kBytes);
            prefetch_row(cache.values, (bases[1] + d * kKvBlockTokens) * Stored::kBytes);
          }
#pragma GCC unroll 8
          for (int i = 0; i < kAtOnce; ++i) {
            const int64_t at =
                bases[(i0 + i) / kPerBlock] + d * kKvBlockTokens + (i0 + i) % kPerBlock * V::kWidth;
            sums.add(i, Stored::load(cache.keys, at), queries + d, dim);
          }
        }
        sums.finish(Fold{}, i0 * V::kWidth, scores + b * kKvBlockTokens, kAttentionSplit);
      }
    }
  }

  // o: (kRows, head_dim) with row stride o_stride; p: (kRows, 128), of which [first, end) count.
  template <class Stored, int kRows>
  static void values_of(const KvLayerView& cache, int64_t kv_head, const int32_t* blocks,
                        int64_t first, int64_t end, const float* p, float* o, int64_t o_stride) {
    constexpr int kAtOnce = at_once(kRows);
    for (int64_t d0 = 0; d0 < cache.head_dim; d0 += kAtOnce * V::kWidth) {
      LeafSums<V, kRows, kAtOnce> sums;
      for (int64_t t0 = first / kKvBlockTokens * kKvBlockTokens; t0 < end; t0 += kKvBlockTokens) {
        const int64_t base = block_base(cache, blocks[t0 / kKvBlockTokens], kv_head) + d0;
        const int64_t left = end - t0;
        const int64_t n = left < kKvBlockTokens ? left : kKvBlockTokens;
        for (int64_t t = first > t0 ? first - t0 : 0; t < n; ++t) {
#pragma GCC unroll 8
          for (int i = 0; i < kAtOnce; ++i) {
            sums.add(i, Stored::load(cache.values, base + t * cache.head_dim + i * V::kWidth),
                     p + t0 + t, kAttentionSplit);
          }
        }
      }
      sums.finish(Fold{}, 0, o + d0, o_stride);
    }
  }

  using Scores = void (*)(const KvLayerView&, int64_t, const int32_t*, int64_t, const float*,
                          float*);
  using Values = void (*)(const KvLayerView&, int64_t, const int32_t*, int64_t, int64_t,
                          const float*, float*, int64_t);
  struct Pair {
    Scores scores;
    Values values;
  };

  template <class Stored, int... kRows>
  static Pair pair_of(Steps<kRows...>, int64_t n_queries) {
    static constexpr Pair kTable[] = {
        {&scores_of<Stored, kRows + 1>, &values_of<Stored, kRows + 1>}...};
    return kTable[n_queries - 1];
  }

  static Pair kernels(KvDType dtype, int64_t n_queries) {
    using Rows = CountUp<V::kDirectRows>;
    switch (dtype) {
      case KvDType::kF16:
        return pair_of<StoredF16<V>>(Rows{}, n_queries);
      case KvDType::kBF16:
        return pair_of<StoredBf16<V>>(Rows{}, n_queries);
      default:
        return pair_of<StoredF32<V>>(Rows{}, n_queries);
    }
  }

  static void scores(const KvLayerView& cache, int64_t kv_head, const int32_t* blocks,
                     int64_t n_blocks, const float* queries, int64_t n_queries, float* scores) {
    kernels(cache.dtype, n_queries).scores(cache, kv_head, blocks, n_blocks, queries, scores);
  }
  static void values(const KvLayerView& cache, int64_t kv_head, const int32_t* blocks,
                     int64_t first, int64_t end, const float* p, int64_t n_queries, float* o,
                     int64_t o_stride) {
    kernels(cache.dtype, n_queries).values(cache, kv_head, blocks, first, end, p, o, o_stride);
  }
};

}  // namespace isobit

// attention over the paged cache: contract section 3, splits of 128 positions from absolute
// position 0.
//
// One work item is a few rows times one KV head: the query heads that share it, for rows of the
// same sequence, are the rows of two small matrix products with the f32 tile kernel of
// cpu_matmul.h. Keys lie (head_dim, 16 positions), so lanes own positions and each score is one
// chain over head_dim; values lie (position, head_dim), so lanes own elements of the output and
// each is one chain over positions. Every split leaves (m, l, o) per query in a slot; slots combine
// like the digits of a binary counter.
//
// What a row must not see is never read into its sums: scores outside its window are dropped before
// the maximum, and its chain over values starts and stops there. Rows of one item have their first
// visible split in common, so that all of them count splits from the same one.
#pragma once

#include "kernels/cpu/cpu_few_queries.h"
#include "kernels/cpu/cpu_matmul.h"
#include "kernels/cpu/cpu_partial.h"
#include "numeric/elementary.h"

namespace isobit {

template <class V>
struct Attention {
  using Tiles = TileKernels<V>;
  using Few = FewQueries<V>;
  static constexpr int64_t kColumns = kPanelColumns;
  static constexpr int64_t kMaxQueries =
      48;  // of one item: their scores and sums stay in L1 and L2

  struct Job {
    const float* q;
    int64_t q_stride;
    AttentionShape shape;
    const BatchView* batch;
    const KvLayerView* cache;
    float* out;
    int64_t rows_per_item;
    int64_t max_slots;
  };

  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
  static int64_t padded_dim(int64_t head_dim) {
    return (head_dim + kColumns - 1) / kColumns * kColumns;
  }

  struct Scratch {
    float* queries;  // (n_queries, head_dim)
    float* panel;    // (max(head_dim, 128), 32)
    float* scores;   // (n_queries, 128), then probabilities
    float* o;        // (n_slots, n_queries, padded_dim)
    float* m;        // (n_slots, n_queries)
    float* l;        // (n_slots, n_queries)
  };

  static int64_t panel_rows(int64_t head_dim) {
    return head_dim > kAttentionSplit ? head_dim : kAttentionSplit;
  }

  static Scratch divide_scratch(const Job& job, int64_t n_queries) {
    const int64_t dim = job.shape.head_dim, slots = job.max_slots;
    // Rounded up, so that every array starts on a cache line.
    const int64_t queries = (n_queries * dim + 15) / 16 * 16,
                  lists = (slots * n_queries + 15) / 16 * 16;
    const int64_t panel = panel_rows(dim) * kColumns, scores = n_queries * kAttentionSplit;
    const int64_t o = slots * n_queries * padded_dim(dim);
    Scratch s;
    s.queries = thread_scratch(queries + panel + scores + o + 2 * lists);
    s.panel = s.queries + queries;
    s.scores = s.panel + panel;
    s.o = s.scores + scores;
    s.m = s.o + o;
    s.l = s.m + lists;
    return s;
  }

  // ---- the cache as f32 ----

  ISOBIT_LANES_INLINE static V load_stored(KvDType dtype, const std::byte* base, int64_t element) {
    switch (dtype) {
      case KvDType::kF16:
        return StoredF16<V>::load(base, element);
      case KvDType::kBF16:
        return StoredBf16<V>::load(base, element);
      default:
        return StoredF32<V>::load(base, element);
    }
  }

  // Elements [element, element + n), zeros above; reads nothing past them.
  static V load_stored_first(KvDType dtype, const std::byte* base, int64_t element, int64_t n) {
    if (n >= V::kWidth) return load_stored(dtype, base, element);
    alignas(64) std::byte buffer[V::kWidth * 4] = {};
    const int64_t size = dtype == KvDType::kF32 ? 4 : 2;
    __builtin_memcpy(buffer, base + element * size, static_cast<size_t>(n * size));
    return load_stored(dtype, buffer, 0);
  }

  // Keys of one block into columns c..c+16 of the panel, which becomes (head_dim, 32).
  static void unpack_keys(const KvLayerView& cache, int64_t block, int64_t kv_head, int64_t c,
                          float* panel) {
    const int64_t base = (block * cache.n_kv_heads + kv_head) * cache.head_dim * kKvBlockTokens;
    for (int64_t d = 0; d < cache.head_dim; ++d) {
      for (int64_t i = 0; i < kKvBlockTokens; i += V::kWidth) {
        load_stored(cache.dtype, cache.keys, base + d * kKvBlockTokens + i)
            .store(panel + d * kColumns + c + i);
      }
    }
  }

  // Values of one block, elements d0..d0+32 of the head, into 16 rows of 32.
  static void unpack_values(const KvLayerView& cache, int64_t block, int64_t kv_head, int64_t d0,
                            float* rows) {
    const int64_t base = (block * cache.n_kv_heads + kv_head) * cache.head_dim * kKvBlockTokens;
    for (int64_t t = 0; t < kKvBlockTokens; ++t) {
      for (int64_t c = 0; c < kColumns; c += V::kWidth) {
        const int64_t n = cache.head_dim - d0 - c;
        const V v = n > 0 ? load_stored_first(cache.dtype, cache.values,
                                              base + t * cache.head_dim + d0 + c, n)
                          : V::broadcast(0.0f);
        v.store(rows + t * kColumns + c);
      }
    }
  }

  // ---- one split ----

  // The queries of one item that belong to one sequence, row after row, the query heads of the KV
  // head within.
  struct Queries {
    const Job* job;
    Scratch scratch;
    const int32_t* blocks;     // of the sequence
    const int32_t* positions;  // (n_rows)
    int64_t n_queries, group, kv_head;

    int64_t position(int64_t query) const { return positions[query / group]; }
    // Positions of the split that the query sees; it is active when there is one.
    int64_t visible(int64_t query, int64_t split) const {
      return smaller(position(query) - split * kAttentionSplit + 1, kAttentionSplit);
    }
    // Positions of the split that lie before the query's window.
    int64_t hidden(int64_t query, int64_t split) const {
      const int64_t n = job->shape.first_seen(position(query)) - split * kAttentionSplit;
      return n > 0 ? n : 0;
    }
    // As in decode: no more rows than a direct kernel takes, and all see the same positions.
    bool few_at_one_position() const {
      return n_queries == group && group <= V::kDirectRows && job->shape.head_dim % kColumns == 0;
    }
    float* o(int64_t slot, int64_t query) const {
      return scratch.o + (slot * n_queries + query) * padded_dim(job->shape.head_dim);
    }
  };

  // Blocks of the split that the last query, which sees the most, reaches.
  static int64_t blocks_seen(const Queries& q, int64_t split) {
    return (q.visible(q.n_queries - 1, split) + kKvBlockTokens - 1) / kKvBlockTokens;
  }

  static void score(const Queries& q, int64_t first_query, int64_t split) {
    const int64_t dim = q.job->shape.head_dim, n_blocks = blocks_seen(q, split);
    const int32_t* blocks = q.blocks + split * (kAttentionSplit / kKvBlockTokens);
    if (q.few_at_one_position()) {
      return Few::scores(*q.job->cache, q.kv_head, blocks, n_blocks, q.scratch.queries, q.n_queries,
                         q.scratch.scores);
    }
    for (int64_t b = 0; b < n_blocks; b += 2) {
      unpack_keys(*q.job->cache, blocks[b], q.kv_head, 0, q.scratch.panel);
      // An odd last block leaves the other half of the panel as it is: those scores are past every
      // row's position.
      if (b + 1 < n_blocks) {
        unpack_keys(*q.job->cache, blocks[b + 1], q.kv_head, kKvBlockTokens, q.scratch.panel);
      }
      for (int64_t i = first_query; i < q.n_queries; i += Tiles::kMaxRows) {
        const int64_t n = smaller(Tiles::kMaxRows, q.n_queries - i);
        Tiles::template kernel<false>(n)(
            q.scratch.panel, dim, q.scratch.queries + i * dim, dim, Fold{},
            q.scratch.scores + i * kAttentionSplit + b * kKvBlockTokens, kAttentionSplit, {});
      }
    }
  }

  ISOBIT_LANES_INLINE static V capped(const AttentionShape& shape, const V& s) {
    if (shape.soft_cap <= 0) return s;
    return V::broadcast(shape.cap_scale) * tanh_lanes(s / V::broadcast(shape.soft_cap));
  }

  // A score that is not finite makes m, and with it the result, NaN.
  // Turns scores[first, n) into p = 2^(s - m) and gives m = ceil(max s) and l = Lanes16(p).
  // REQUIRES: 0 <= first < n.
  static void weigh(float* scores, int64_t first, int64_t n, const AttentionShape& shape, float& m,
                    float& l) {
    if (first > 0) return weigh_window(scores, first, n, shape, m, l);
    const V scale = V::broadcast(shape.score_scale);
    V highest = V::broadcast(-__builtin_inff());
    V spoiled = V::broadcast(0.0f);  // NaN where a score is not finite
    for (int64_t i = 0; i < n; i += V::kWidth) {
      const V uncapped = V::load(scores + i) * scale;
      const V difference = uncapped - uncapped;
      const V s = capped(shape, uncapped);
      s.store(scores + i);
      if (n - i >= V::kWidth) {
        highest = larger(highest, s);
        spoiled = spoiled + difference;
      } else {
        const typename V::Mask seen = first_lanes<V>(n - i);
        highest = select(seen, larger(highest, s), highest);
        spoiled = select(seen, spoiled + difference, spoiled);
      }
    }
    m = any_nan(spoiled) ? __builtin_nanf("") : __builtin_ceilf(largest_lane(highest));
    const V shift = V::broadcast(m);
    LaneSums<V, 16> sums;
    for (int64_t i = 0; i < n; i += 16) {
#pragma GCC unroll 4
      for (int j = 0; j < sums.kVectors; ++j) {
        const int64_t at = i + j * V::kWidth, left = n - at;
        if (left <= 0) break;
        const V p = exp2_lanes(V::load(scores + at) - shift);
        p.store(scores + at);
        sums.v[j] = left >= V::kWidth ? sums.v[j] + p
                                      : select(first_lanes<V>(left), sums.v[j] + p, sums.v[j]);
      }
    }
    l = sums.fold();
  }

  // weigh() where a window begins inside the split: lanes before `first` keep what they have.
  static void weigh_window(float* scores, int64_t first, int64_t n, const AttentionShape& shape,
                           float& m, float& l) {
    const V scale = V::broadcast(shape.score_scale);
    V highest = V::broadcast(-__builtin_inff()), spoiled = V::broadcast(0.0f);
    const int64_t begin = first / 16 * 16;
    for (int64_t i = begin; i < n; i += V::kWidth) {
      const V uncapped = V::load(scores + i) * scale;
      const V s = capped(shape, uncapped);
      s.store(scores + i);
      highest = within(first - i, n - i, larger(highest, s), highest);
      spoiled = within(first - i, n - i, spoiled + (uncapped - uncapped), spoiled);
    }
    m = any_nan(spoiled) ? __builtin_nanf("") : __builtin_ceilf(largest_lane(highest));
    const V shift = V::broadcast(m);
    LaneSums<V, 16> sums;
    for (int64_t i = begin; i < n; i += 16) {
      for (int j = 0; j < sums.kVectors; ++j) {
        const int64_t at = i + j * V::kWidth;
        if (at >= n) break;
        const V p = exp2_lanes(V::load(scores + at) - shift);
        p.store(scores + at);
        sums.v[j] = within(first - at, n - at, sums.v[j] + p, sums.v[j]);
      }
    }
    l = sums.fold();
  }

  // `inside` in the lanes of [first, end), `outside` in the others.
  static V within(int64_t first, int64_t end, const V& inside, const V& outside) {
    return select(first_lanes<V>(first), outside, select(first_lanes<V>(end), inside, outside));
  }

  // o = chain over the visible positions, for queries [first_query, n_queries) into `slot`.
  static void sum_values(const Queries& q, int64_t first_query, int64_t split, int64_t slot) {
    const int64_t dim = q.job->shape.head_dim, n_blocks = blocks_seen(q, split);
    const int32_t* blocks = q.blocks + split * (kAttentionSplit / kKvBlockTokens);
    float* panel = q.scratch.panel;  // (128 positions, 32)
    if (q.few_at_one_position()) {
      return Few::values(*q.job->cache, q.kv_head, blocks, q.hidden(0, split), q.visible(0, split),
                         q.scratch.scores, q.n_queries, q.o(slot, 0), padded_dim(dim));
    }
    for (int64_t d0 = 0; d0 < dim; d0 += kColumns) {
      for (int64_t b = 0; b < n_blocks; ++b) {
        unpack_values(*q.job->cache, blocks[b], q.kv_head, d0,
                      panel + b * kKvBlockTokens * kColumns);
      }
      for (int64_t i = first_query; i < q.n_queries; i += Tiles::kMaxRows) {
        const int64_t n = smaller(Tiles::kMaxRows, q.n_queries - i);
        q.hidden(i + n - 1, split) > 0 ? sum_windows(q, i, n, split, panel, q.o(slot, i) + d0)
                                       : sum_rows(q, i, n, split, panel, q.o(slot, i) + d0);
      }
    }
  }

  // n rows at once as far as all of them see, then each alone. All start at the split's first
  // position.
  static void sum_rows(const Queries& q, int64_t first_query, int64_t n, int64_t split,
                       const float* panel, float* o) {
    const int64_t stride = padded_dim(q.job->shape.head_dim);
    const int64_t common = q.visible(first_query, split);  // rows ascend: the first sees the least
    const float* p = q.scratch.scores + first_query * kAttentionSplit;
    Tiles::template kernel<false>(n)(panel, common, p, kAttentionSplit, Fold{}, o, stride, {});
    for (int64_t j = 0; j < n; ++j) {
      const int64_t rest = q.visible(first_query + j, split) - common;
      if (rest > 0) {
        Tiles::template kernel<true>(1)(panel + common * kColumns, rest,
                                        p + j * kAttentionSplit + common, kAttentionSplit, Fold{},
                                        o + j * stride, stride, {});
      }
    }
  }

  // Rows one by one, each from where its window begins.
  static void sum_windows(const Queries& q, int64_t first_query, int64_t n, int64_t split,
                          const float* panel, float* o) {
    for (int64_t j = 0; j < n; ++j, o += padded_dim(q.job->shape.head_dim)) {
      const int64_t query = first_query + j, begin = q.hidden(query, split);
      Tiles::template kernel<false>(1)(panel + begin * kColumns, q.visible(query, split) - begin,
                                       q.scratch.scores + query * kAttentionSplit + begin,
                                       kAttentionSplit, Fold{}, o,
                                       padded_dim(q.job->shape.head_dim), {});
    }
  }

  // ---- combining splits ----

  // 2^d for an integer d <= 0, and whether that side counts at all. exp2 of the contract is exact
  // at integers.
  struct Factor {
    bool present;
    float power;
  };
  static Factor factor_of(float side_m, float m) {
    const float d = side_m - m;
    if (d < -126.0f) return {false, 0.0f};
    float lanes[V::kWidth];
    exp2_lanes(V::broadcast(d)).store(lanes);
    return {true, lanes[0]};
  }
  ISOBIT_LANES_INLINE static V scaled(const V& v, Factor f) {
    return f.present ? v * V::broadcast(f.power) : V::broadcast(0.0f);
  }
  static float scaled(float v, Factor f) {
    return f.present ? v * f.power : 0.0f;
  }

  // Slot `right` joins slot right - 1.
  static void combine(const Queries& q, int64_t query, int64_t right) {
    float* m1 = q.scratch.m + (right - 1) * q.n_queries + query;
    float* l1 = q.scratch.l + (right - 1) * q.n_queries + query;
    const float m2 = m1[q.n_queries], l2 = l1[q.n_queries];
    const float m = *m1 != *m1 || m2 != m2 ? *m1 + m2 : *m1 < m2 ? m2 : *m1;  // NaN stays
    const Factor left_factor = factor_of(*m1, m), right_factor = factor_of(m2, m);
    *l1 = scaled(*l1, left_factor) + scaled(l2, right_factor);
    *m1 = m;
    float* o1 = q.o(right - 1, query);
    const float* o2 = q.o(right, query);
    for (int64_t d = 0; d < padded_dim(q.job->shape.head_dim); d += V::kWidth) {
      (scaled(V::load(o1 + d), left_factor) + scaled(V::load(o2 + d), right_factor)).store(o1 + d);
    }
  }

  static void write_out(const Queries& q, int64_t query, float* out) {
    const V l = V::broadcast(q.scratch.l[query]);
    const float* o = q.o(0, query);
    for (int64_t d = 0; d < q.job->shape.head_dim; d += V::kWidth) {
      store_first<V>(V::load(o + d) / l, out + d, q.job->shape.head_dim - d);
    }
  }

  // ---- items ----

  static void attend(const Queries& q, float* out, int64_t out_stride) {
    const int64_t dim = q.job->shape.head_dim;
    for (int64_t i = 0; i < q.n_queries; i += q.group) {
      for (int64_t d = 0; d < q.group * dim; d += 16)
        claim_line(out + i / q.group * out_stride + d);
    }
    const int64_t n_splits = q.position(q.n_queries - 1) / kAttentionSplit + 1;
    const int64_t first_split = first_split_of(q.job->shape, q.position(0));
    int64_t first = 0;  // queries before it have ended in an earlier split
    for (int64_t split = first_split; split < n_splits; ++split) {
      while (q.visible(first, split) <= 0) ++first;
      const int64_t index = split - first_split;
      const int64_t slot = __builtin_popcountll(static_cast<unsigned long long>(index));
      score(q, first, split);
      for (int64_t i = first; i < q.n_queries; ++i) {
        weigh(q.scratch.scores + i * kAttentionSplit, q.hidden(i, split), q.visible(i, split),
              q.job->shape, q.scratch.m[slot * q.n_queries + i],
              q.scratch.l[slot * q.n_queries + i]);
      }
      sum_values(q, first, split, slot);
      for (int64_t i = first; i < q.n_queries; ++i) {
        int64_t depth = slot;
        for (int64_t digits = index; digits & 1; digits >>= 1) combine(q, i, depth--);
        if (q.position(i) / kAttentionSplit == split) {
          while (depth > 0) combine(q, i, depth--);
          write_out(q, i, out + i / q.group * out_stride + i % q.group * dim);
        }
      }
    }
  }

  static int64_t first_split_of(const AttentionShape& shape, int64_t position) {
    return shape.first_seen(position) / kAttentionSplit;
  }

  static void run_item(const Job& job, int64_t item) {
    const BatchView& batch = *job.batch;
    const int64_t kv_head = item % job.shape.n_kv_heads,
                  group = job.shape.n_heads / job.shape.n_kv_heads;
    const int64_t begin = item / job.shape.n_kv_heads * job.rows_per_item;
    const int64_t end = smaller(begin + job.rows_per_item, batch.n_rows), dim = job.shape.head_dim;
    for (int64_t row = begin, next; row < end; row = next) {
      const int32_t sequence = batch.sequence_of_row[row];
      const int64_t split = first_split_of(job.shape, batch.positions[row]);
      for (next = row + 1; next < end && batch.sequence_of_row[next] == sequence &&
                           first_split_of(job.shape, batch.positions[next]) == split;) {
        ++next;
      }
      const int64_t n_queries = (next - row) * group;
      const Queries q{&job,
                      divide_scratch(job, n_queries),
                      batch.block_tables[sequence],
                      batch.positions + row,
                      n_queries,
                      group,
                      kv_head};
      for (int64_t i = 0; i < n_queries; ++i) {
        const float* from =
            job.q + (row + i / group) * job.q_stride + (kv_head * group + i % group) * dim;
        __builtin_memcpy(q.scratch.queries + i * dim, from,
                         static_cast<size_t>(dim) * sizeof(float));
      }
      const int64_t out_stride = job.shape.n_heads * dim;
      attend(q, job.out + row * out_stride + kv_head * group * dim, out_stride);
    }
  }

  static int64_t slots_for(const BatchView& batch) {
    int64_t last = 0;
    for (int64_t r = 0; r < batch.n_rows; ++r)
      last = batch.positions[r] > last ? batch.positions[r] : last;
    return bit_width_of(last / kAttentionSplit + 1) + 1;
  }

  static void run(const float* q, int64_t q_stride, const AttentionShape& shape,
                  const BatchView& batch, const KvLayerView& cache, float* out, ThreadPool& pool) {
    if (batch.n_rows <= 0) return;
    const int64_t most = kMaxQueries / (shape.n_heads / shape.n_kv_heads);
    const int64_t balanced = batch.n_rows * shape.n_kv_heads / (8 * pool.n_threads());
    const int64_t rows = balanced < 1 || most < 1 ? 1 : smaller(balanced, most);
    const Job job{q, q_stride, shape, &batch, &cache, out, rows, slots_for(batch)};
    run_items(pool, (batch.n_rows + rows - 1) / rows * shape.n_kv_heads, &job,
              [](const void* j, int64_t item) { run_item(*static_cast<const Job*>(j), item); });
  }
};

}  // namespace isobit

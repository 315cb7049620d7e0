// attention, in base 2 (numeric contract section 3). Positions are cut into splits of 128 from
// absolute position 0, so where a split ends depends on nothing but the position; a split's maximum
// is rounded up to an integer, so that moving a split to another maximum is a multiplication by a
// power of two.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/cpu/reference_operators.h"
#include "numeric/lanes_scalar.h"
#include "numeric/sums.h"

namespace isobit::reference {
namespace {

// One query head, and where the keys and values that it sees are.
struct Query {
  const float* q;  // (head_dim)
  const AttentionShape& shape;
  const KvLayerView& cache;
  int64_t kv_head;
  const int32_t* block_table;

  int64_t block(int64_t position) const { return block_table[position / kKvBlockTokens]; }
  float key(int64_t position, int64_t d) const {
    return load_kv(cache.dtype, cache.keys,
                   key_index(cache, block(position), kv_head, d, position % kKvBlockTokens));
  }
  float value(int64_t position, int64_t d) const {
    return load_kv(cache.dtype, cache.values,
                   value_index(cache, block(position), kv_head, position % kKvBlockTokens, d));
  }
};

// The softmax of some positions, unfinished: sum of 2^(s - m) and of 2^(s - m) * v.
struct Partial {
  float m = 0;  // an integer
  float l = 0;
  std::vector<float> o;  // (head_dim)
};

float score(const Query& query, int64_t position) {
  float chain = 0.0f;
  for (int64_t d = 0; d < query.cache.head_dim; ++d) {
    chain = std::fma(query.q[d], query.key(position, d), chain);
  }
  return chain * query.shape.score_scale;
}

float capped(const AttentionShape& shape, float score) {
  return shape.soft_cap > 0 ? shape.cap_scale * tanh_f32(score / shape.soft_cap) : score;
}

// Positions [first, end) of one split. A score that is not finite (a key that overflowed when it
// was stored) makes the whole result NaN: a weight of +0 for -infinity would hide it, and so would
// a cap.
Partial attend_split(const Query& query, int64_t first, int64_t end) {
  std::vector<float> scores;
  float largest = -std::numeric_limits<float>::infinity();
  bool finite = true;
  for (int64_t position = first; position < end; ++position) {
    const float uncapped = score(query, position);
    finite = finite && std::isfinite(uncapped);
    scores.push_back(capped(query.shape, uncapped));
    largest = scores.back() > largest ? scores.back() : largest;
  }
  Partial partial{finite ? std::ceil(largest) : std::numeric_limits<float>::quiet_NaN(), 0,
                  std::vector<float>(static_cast<size_t>(query.cache.head_dim))};
  Lanes<16> weights;
  for (int64_t position = first; position < end; ++position) {
    const float p = exp2_f32(scores[static_cast<size_t>(position - first)] - partial.m);
    weights.add(static_cast<size_t>(position), p);
    for (size_t d = 0; d < partial.o.size(); ++d) {
      partial.o[d] = std::fma(p, query.value(position, static_cast<int64_t>(d)), partial.o[d]);
    }
  }
  partial.l = weights.fold();
  return partial;
}

// 2^(m - to), by which a partial sum at maximum m is moved to the larger maximum `to`; below 2^-126
// the sum is dropped.
float move_factor(float m, float to) {
  return exp2_f32(m - to);
}
bool is_dropped(float m, float to) {
  return m - to < -126.0f;
}

Partial combine(const Partial& left, const Partial& right) {
  const float larger = left.m < right.m ? right.m : left.m;
  Partial sum{left.m == left.m && right.m == right.m ? larger : left.m + right.m, 0,
              std::vector<float>(left.o.size())};
  const auto moved = [&](const Partial& side, float v) {
    return is_dropped(side.m, sum.m) ? 0.0f : v * move_factor(side.m, sum.m);
  };
  sum.l = moved(left, left.l) + moved(right, right.l);
  for (size_t d = 0; d < sum.o.size(); ++d) {
    sum.o[d] = moved(left, left.o[d]) + moved(right, right.o[d]);
  }
  return sum;
}

// Attends to positions first_seen(last)..last.
void attend(const Query& query, int64_t last, float* out) {
  std::vector<Partial> splits;
  for (int64_t first = query.shape.first_seen(last), end; first <= last; first = end) {
    end = std::min(last + 1, (first / kAttentionSplit + 1) * kAttentionSplit);
    splits.push_back(attend_split(query, first, end));
  }
  const Partial total = balanced(std::span<const Partial>(splits), combine);
  for (size_t d = 0; d < total.o.size(); ++d) out[d] = total.o[d] / total.l;
}

}  // namespace

void attention(const float* q, int64_t q_stride, const AttentionShape& shape,
               const BatchView& batch, const KvLayerView& cache, float* out, ThreadPool& pool) {
  ISOBIT_REQUIRE(shape.n_heads % shape.n_kv_heads == 0 && shape.n_kv_heads == cache.n_kv_heads);
  ISOBIT_REQUIRE(shape.head_dim == cache.head_dim);
  const int64_t heads_per_kv_head = shape.n_heads / shape.n_kv_heads;
  pool.run(static_cast<size_t>(batch.n_rows * shape.n_heads), [&](size_t item, int) {
    const int64_t r = static_cast<int64_t>(item) / shape.n_heads,
                  h = static_cast<int64_t>(item) % shape.n_heads;
    const Query query{q + r * q_stride + h * shape.head_dim, shape, cache, h / heads_per_kv_head,
                      batch.block_tables[batch.sequence_of_row[r]]};
    attend(query, batch.positions[r], out + (r * shape.n_heads + h) * shape.head_dim);
  });
}

}  // namespace isobit::reference

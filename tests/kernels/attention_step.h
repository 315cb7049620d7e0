// One step of attention over a paged cache whose blocks are scattered.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/kernels/cpu_variants.h"

namespace isobit {

// Sequences whose last n_rows positions are computed in this step.
struct Sequence {
  int64_t kv_len;
  int64_t n_rows;
};

// A paged cache with shuffled blocks: filled by reference's kv_write, everything else NaN.
class Step {
 public:
  Step(std::vector<Sequence> sequences, KvDType dtype, int64_t n_heads, int64_t n_kv_heads,
       int64_t head_dim, float key_scale, Numbers& numbers)
      : shape{n_heads, n_kv_heads, head_dim,
              1.4426950408889634f / std::sqrt(static_cast<float>(head_dim))} {
    int64_t n_blocks = 0;
    for (const Sequence& s : sequences)
      n_blocks += (s.kv_len + kKvBlockTokens - 1) / kKvBlockTokens;
    std::vector<int32_t> order(static_cast<size_t>(n_blocks));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::minstd_rand(numbers.bits()));
    auto next = order.begin();
    for (size_t s = 0; s < sequences.size(); ++s) {
      const auto n = (sequences[s].kv_len + kKvBlockTokens - 1) / kKvBlockTokens;
      blocks_.emplace_back(next, next + n);
      next += n;
      for (int64_t p = sequences[s].kv_len - sequences[s].n_rows; p < sequences[s].kv_len; ++p) {
        positions_.push_back(static_cast<int32_t>(p));
        sequence_of_row_.push_back(static_cast<int32_t>(s));
      }
    }
    for (const auto& table : blocks_) tables_.push_back(table.data());
    batch = {static_cast<int64_t>(positions_.size()), positions_.data(), sequence_of_row_.data(),
             static_cast<int64_t>(sequences.size()), tables_.data()};
    fill_cache(sequences, dtype, n_blocks, key_scale, numbers);
    q_stride = n_heads * head_dim + 3;
    q = numbers.many(static_cast<size_t>(batch.n_rows * q_stride));
    for (float& e : q) e = std::abs(e) > 100.0f ? e * 0x1p-18f : e;
  }
  Step(const Step&) = delete;

  AttentionShape shape;
  BatchView batch;
  KvLayerView cache;
  std::vector<float> q;
  int64_t q_stride = 0;

  std::vector<float> run(const KernelSet& set, ThreadPool& pool) const {
    std::vector<float> out(static_cast<size_t>(batch.n_rows * shape.n_heads * shape.head_dim),
                           777.0f);
    set.attention(q.data(), q_stride, shape, batch, cache, out.data(), pool);
    return out;
  }

 private:
  void fill_cache(const std::vector<Sequence>& sequences, KvDType dtype, int64_t n_blocks,
                  float key_scale, Numbers& numbers) {
    const int64_t width = shape.n_kv_heads * shape.head_dim;
    const size_t n_bytes =
        static_cast<size_t>(n_blocks * width * kKvBlockTokens) * (dtype == KvDType::kF32 ? 4 : 2);
    bytes_.assign(2 * n_bytes, std::byte{0xFF});  // a NaN in every dtype
    cache = {dtype, shape.n_kv_heads, shape.head_dim, bytes_.data(), bytes_.data() + n_bytes};
    ThreadPool pool(1);
    for (size_t s = 0; s < sequences.size(); ++s) {
      const auto n = static_cast<size_t>(sequences[s].kv_len);
      std::vector<int32_t> positions(n), sequence(n, static_cast<int32_t>(s));
      std::iota(positions.begin(), positions.end(), 0);
      std::vector<float> k(n * static_cast<size_t>(width)), v(k.size());
      for (float& e : k) e = numbers.ordinary() * key_scale;
      for (float& e : v) e = numbers.below(8) == 0 ? numbers.next() * 0x1p-8f : numbers.ordinary();
      const BatchView all{sequences[s].kv_len, positions.data(), sequence.data(),
                          static_cast<int64_t>(sequences.size()), tables_.data()};
      reference_kernel_set().kv_write(k.data(), v.data(), width, all, cache, pool);
    }
  }

  std::vector<std::vector<int32_t>> blocks_;
  std::vector<const int32_t*> tables_;
  std::vector<int32_t> positions_, sequence_of_row_;
  std::vector<std::byte> bytes_;
};

}  // namespace isobit

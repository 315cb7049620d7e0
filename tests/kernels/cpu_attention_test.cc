// attention of every cpu variant against `reference`, bit for bit: lengths around blocks and
// splits, several sequences in one step, chunks of prefill, every cache dtype, and memory past the
// last position full of NaN.
#include <algorithm>
#include <numeric>

#include "tests/kernels/cpu_variants.h"

namespace isobit {
namespace {

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

void check_step(const Step& step, int n_threads) {
  ThreadPool pool(n_threads);
  const std::vector<float> expected = step.run(reference_kernel_set(), pool);
  for (const KernelSet* set : cpu_variants()) {
    INFO(set->isa, " rows=", step.batch.n_rows,
         " last position=", step.batch.positions[step.batch.n_rows - 1],
         " cache dtype=", static_cast<int>(step.cache.dtype), " head_dim=", step.shape.head_dim,
         " heads=", step.shape.n_heads, "/", step.shape.n_kv_heads, " threads=", n_threads);
    CHECK(first_difference(expected, step.run(*set, pool)) == "");
  }
}

TEST_CASE("cpu attention has the bits of reference at every length of the cache") {
  Numbers numbers(31);
  for (const KvDType dtype : {KvDType::kF16, KvDType::kF32, KvDType::kBF16}) {
    for (const int64_t kv_len :
         {1, 2, 15, 16, 17, 31, 33, 127, 128, 129, 255, 256, 257, 385, 1000}) {
      check_step(Step({{kv_len, 1}}, dtype, 9, 3, 64, 1.0f, numbers), 2);
    }
  }
}

TEST_CASE("cpu attention has the bits of reference for chunks that begin and end anywhere") {
  Numbers numbers(32);
  for (const Sequence s : {Sequence{5, 5}, Sequence{16, 16}, Sequence{40, 33}, Sequence{129, 4},
                           Sequence{131, 131}, Sequence{260, 17}, Sequence{300, 64}}) {
    for (int n_threads = 1; n_threads <= 4; ++n_threads) {
      check_step(Step({s}, KvDType::kF16, 6, 2, 32, 1.0f, numbers), n_threads);
    }
  }
}

TEST_CASE("cpu attention has the bits of reference for awkward heads") {
  Numbers numbers(33);
  struct Heads {
    int64_t n_heads, n_kv_heads, head_dim;
  };
  for (const Heads h : {Heads{8, 4, 20}, Heads{1, 1, 2}, Heads{7, 1, 48}, Heads{4, 4, 80},
                        Heads{2, 1, 160}, Heads{60, 1, 16}, Heads{3, 3, 33}}) {
    for (const KvDType dtype : {KvDType::kF16, KvDType::kF32}) {
      check_step(Step({{150, 21}}, dtype, h.n_heads, h.n_kv_heads, h.head_dim, 1.0f, numbers), 2);
    }
  }
}

TEST_CASE("cpu attention keeps sequences apart in a mixed step") {
  Numbers numbers(34);
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    check_step(Step({{300, 1}, {40, 40}, {1, 1}, {128, 1}, {129, 2}, {17, 3}, {260, 130}, {64, 1}},
                    KvDType::kF16, 6, 2, 64, 1.0f, numbers),
               n_threads);
  }
}

TEST_CASE("cpu attention drops and keeps far-away splits as reference does") {
  Numbers numbers(35);
  // Large keys: maxima of splits lie hundreds apart, weights underflow to subnormals and zeros.
  for (const float key_scale : {4.0f, 20.0f, 60.0f, 300.0f}) {
    for (const KvDType dtype : {KvDType::kF16, KvDType::kF32, KvDType::kBF16}) {
      check_step(Step({{700, 3}}, dtype, 4, 2, 64, key_scale, numbers), 2);
    }
  }
}

TEST_CASE("a row's attention does not depend on the rows beside it") {
  Numbers numbers(36);
  ThreadPool pool(2);
  const Step step({{200, 60}}, KvDType::kF16, 9, 3, 64, 1.0f, numbers);
  for (const KernelSet* set : cpu_variants()) {
    const std::vector<float> together = step.run(*set, pool);
    const size_t row_floats = static_cast<size_t>(step.shape.n_heads * step.shape.head_dim);
    for (int64_t r = 0; r < step.batch.n_rows; ++r) {
      BatchView one = step.batch;
      one.n_rows = 1;
      one.positions += r;
      one.sequence_of_row += r;
      std::vector<float> alone(row_floats);
      set->attention(step.q.data() + r * step.q_stride, step.q_stride, step.shape, one, step.cache,
                     alone.data(), pool);
      INFO(set->isa, " row ", r);
      CHECK(first_difference(together.data() + static_cast<size_t>(r) * row_floats, alone.data(),
                             row_floats) == "");
    }
  }
}

}  // namespace
}  // namespace isobit

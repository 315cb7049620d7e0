// attention of every cpu variant against `reference`, bit for bit: lengths around blocks and
// splits, several sequences in one step, chunks of prefill, every cache dtype, and memory past the
// last position full of NaN.
#include "tests/kernels/attention_step.h"
#include "tests/kernels/cpu_variants.h"

namespace isobit {
namespace {

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

TEST_CASE("a key that overflowed when it was stored never ends as a finite result") {
  Numbers numbers(36);
  ThreadPool pool(2);
  std::vector<const KernelSet*> sets = cpu_variants();
  sets.push_back(&reference_kernel_set());
  for (const Sequence s : {Sequence{150, 1}, Sequence{300, 1}, Sequence{300, 20}}) {
    for (const int32_t position : {0, 127, 128, 149}) {
      for (const float key : {1e6f, -1e6f}) {  // infinite in f16: scores of +inf and -inf
        Step step({s}, KvDType::kF16, 6, 2, 64, 1.0f, numbers);
        std::fill(step.q.begin(), step.q.end(), 1.0f);
        const std::vector<float> keys(2 * 64, key), values(2 * 64, 1.0f);
        const int32_t sequence = 0;
        const BatchView row{1, &position, &sequence, 1, step.batch.block_tables};
        reference_kernel_set().kv_write(keys.data(), values.data(), 2 * 64, row, step.cache, pool);
        for (const KernelSet* set : sets) {
          INFO(set->isa, " kv_len=", s.kv_len, " position=", position, " key=", key);
          const std::vector<float> out = step.run(*set, pool);
          CHECK(std::all_of(out.begin(), out.end(), [](float v) { return std::isnan(v); }));
        }
      }
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

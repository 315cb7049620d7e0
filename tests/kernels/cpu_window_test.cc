// attention with a sliding window and with soft-capped scores: every cpu variant against
// `reference`, bit for bit, and nothing outside the window in the result.
#include <cstring>

#include "tests/kernels/attention_step.h"

namespace isobit {
namespace {

constexpr int64_t kWindows[] = {1, 2, 15, 16, 17, 100, 127, 128, 129, 200, 257, 300, 400, 1000};

void check_variants(const Step& step, ThreadPool& pool, const std::string& what) {
  const std::vector<float> expected = step.run(reference_kernel_set(), pool);
  for (const KernelSet* set : cpu_variants()) {
    INFO(set->isa, " ", what, " threads=", pool.n_threads());
    CHECK(first_difference(expected, step.run(*set, pool)) == "");
  }
}

TEST_CASE("cpu attention has the bits of reference under every window") {
  Numbers numbers(71);
  int n_threads = 0;
  for (const KvDType dtype : {KvDType::kF16, KvDType::kF32, KvDType::kBF16}) {
    for (const int64_t head_dim : {20, 64, 256}) {
      for (const int64_t window : kWindows) {
        ThreadPool pool(1 + n_threads++ % 3);
        Step step({{300, 45}, {1, 1}, {129, 129}, {517, 3}, {700, 150}, {40, 1}}, dtype, 6, 2,
                  head_dim, 1.0f, numbers);
        step.shape.window = window;
        check_variants(
            step, pool,
            "head_dim=" + std::to_string(head_dim) + " window=" + std::to_string(window));
      }
    }
  }
}

TEST_CASE("cpu attention has the bits of reference in decode under every window") {
  Numbers numbers(72);
  ThreadPool pool(2);
  for (const int64_t window : kWindows) {
    for (const int64_t kv_len : {1, 16, 128, 129, 256, 300, 900}) {
      Step step({{kv_len, 1}}, KvDType::kF16, 8, 4, 64, 1.0f, numbers);
      step.shape.window = window;
      check_variants(step, pool, "kv_len=" + std::to_string(kv_len));
    }
  }
}

TEST_CASE("cpu attention has the bits of reference under a soft cap, with and without a window") {
  Numbers numbers(73);
  ThreadPool pool(2);
  for (const float key_scale : {0.1f, 1.0f, 50.0f}) {
    for (const int64_t window : {0, 100, 128}) {
      Step step({{300, 45}, {17, 17}, {517, 1}}, KvDType::kF16, 8, 2, 64, key_scale, numbers);
      step.shape.window = window;
      step.shape.score_scale = 0.125f;
      step.shape.soft_cap = 50.0f;
      step.shape.cap_scale = 50.0f * 1.44269504f;
      check_variants(step, pool, "window=" + std::to_string(window));
    }
  }
}

// Overwrites what the cache holds of positions [0, end) of sequence 0 with NaN.
void spoil(Step& step, int64_t end) {
  const KvLayerView& cache = step.cache;
  for (int64_t p = 0; p < end; ++p) {
    const int64_t block = step.batch.block_tables[0][p / kKvBlockTokens], slot = p % kKvBlockTokens;
    const int64_t base = block * cache.n_kv_heads * cache.head_dim * kKvBlockTokens;
    for (int64_t h = 0; h < cache.n_kv_heads; ++h) {
      const int64_t head = base + h * cache.head_dim * kKvBlockTokens;
      for (int64_t d = 0; d < cache.head_dim; ++d) {
        std::memset(cache.keys + (head + d * kKvBlockTokens + slot) * 4, 0xFF, 4);
        std::memset(cache.values + (head + slot * cache.head_dim + d) * 4, 0xFF, 4);
      }
    }
  }
}

TEST_CASE("what lies before the window is not in the result, whatever it is") {
  Numbers numbers(74);
  ThreadPool pool(1);
  for (const int64_t window : kWindows) {
    for (const int64_t n_rows : {1, 40}) {
      Step step({{450, n_rows}}, KvDType::kF32, 4, 2, 64, 1.0f, numbers);
      step.shape.window = window;
      const std::vector<float> clean = step.run(reference_kernel_set(), pool);
      spoil(step, step.shape.first_seen(450 - n_rows));
      INFO("window=", window, " rows=", n_rows);
      CHECK(first_difference(clean, step.run(reference_kernel_set(), pool)) == "");
      check_variants(step, pool, "spoiled");
    }
  }
}

TEST_CASE("a key that overflowed its cache shows under a cap too") {
  Numbers numbers(75);
  ThreadPool pool(1);
  Step step({{20, 1}}, KvDType::kF32, 2, 1, 32, 1.0f, numbers);
  step.shape.soft_cap = 30.0f;
  step.shape.cap_scale = 43.28f;
  const float infinity = __builtin_inff();
  constexpr int64_t kSlot = 5;  // seen under a window of 18, too
  const int64_t element = step.batch.block_tables[0][0] * 32 * kKvBlockTokens + kSlot;
  std::memcpy(step.cache.keys + element * 4, &infinity, 4);
  std::vector<const KernelSet*> sets = cpu_variants();
  sets.push_back(&reference_kernel_set());
  for (const int64_t window : {0, 18}) {
    step.shape.window = window;
    for (const KernelSet* set : sets) {
      const std::vector<float> out = step.run(*set, pool);
      INFO(set->name, " ", set->isa, " window=", window);
      CHECK(out[0] != out[0]);
    }
  }
}

}  // namespace
}  // namespace isobit

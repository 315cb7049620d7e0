// rms_norm, residual, silu_mul, rope, kv_write and log_sum_exp of every cpu variant against
// `reference`, bit for bit.
#include <algorithm>

#include "tests/kernels/cpu_variants.h"

namespace isobit {
namespace {

constexpr int64_t kRowCounts[] = {1, 2, 3, 17, 45};

TEST_CASE("cpu rms_norm has the bits of reference, in place too") {
  Numbers numbers(21);
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    for (const int64_t dim : {1, 7, 15, 16, 33, 63, 64, 65, 160, 576, 1000, 4097}) {
      for (const int64_t n_rows : kRowCounts) {
        const std::vector<float> x = numbers.many(static_cast<size_t>(n_rows * dim));
        const std::vector<float> w = numbers.many(static_cast<size_t>(dim));
        std::vector<float> expected(x.size()), y(x.size());
        reference_kernel_set().rms_norm(x.data(), w.data(), 1e-5f, n_rows, dim, expected.data(),
                                        pool);
        for (const KernelSet* set : cpu_variants()) {
          INFO(set->isa, " rows=", n_rows, " dim=", dim, " threads=", n_threads);
          set->rms_norm(x.data(), w.data(), 1e-5f, n_rows, dim, y.data(), pool);
          CHECK(first_difference(expected, y) == "");
          y = x;
          set->rms_norm(y.data(), w.data(), 1e-5f, n_rows, dim, y.data(), pool);
          CHECK(first_difference(expected, y) == "");
        }
      }
    }
  }
}

TEST_CASE("cpu residual has the bits of reference") {
  Numbers numbers(22);
  ThreadPool pool(3);
  for (const size_t n :
       {size_t{1}, size_t{15}, size_t{16}, size_t{100}, size_t{8192}, size_t{20001}}) {
    const std::vector<float> x = numbers.many(n), f = numbers.many(n);
    std::vector<float> expected = x;
    reference_kernel_set().residual(expected.data(), f.data(), static_cast<int64_t>(n), pool);
    for (const KernelSet* set : cpu_variants()) {
      std::vector<float> y = x;
      set->residual(y.data(), f.data(), static_cast<int64_t>(n), pool);
      INFO(set->isa, " n=", n);
      CHECK(first_difference(expected, y) == "");
    }
  }
}

TEST_CASE("cpu silu_mul has the bits of reference, far out too") {
  Numbers numbers(23);
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    for (const int64_t width : {1, 15, 16, 31, 100, 640, 1536, 2049}) {
      for (const int64_t n_rows : kRowCounts) {
        std::vector<float> gate_up = numbers.many(static_cast<size_t>(2 * n_rows * width));
        for (float& g : gate_up) {
          if (numbers.below(8) == 0) g = numbers.ordinary() * 60.0f;
        }
        std::vector<float> expected(static_cast<size_t>(n_rows * width)), y(expected.size());
        reference_kernel_set().silu_mul(gate_up.data(), n_rows, width, expected.data(), pool);
        for (const KernelSet* set : cpu_variants()) {
          set->silu_mul(gate_up.data(), n_rows, width, y.data(), pool);
          INFO(set->isa, " rows=", n_rows, " width=", width, " threads=", n_threads);
          CHECK(first_difference(expected, y) == "");
        }
      }
    }
  }
}

// Rows at arbitrary positions, all of one sequence.
struct Rows {
  std::vector<int32_t> positions, sequences, blocks;
  std::vector<const int32_t*> tables;
  BatchView view;

  Rows(int64_t n_rows, int64_t first_position, Numbers& numbers) {
    int32_t position = static_cast<int32_t>(first_position);
    for (int64_t r = 0; r < n_rows; ++r, position += 1 + static_cast<int32_t>(numbers.below(3))) {
      positions.push_back(position);
    }
    sequences.assign(static_cast<size_t>(n_rows), 0);
    for (int32_t b = 0; b <= position / kKvBlockTokens; ++b) blocks.push_back(b);
    std::shuffle(blocks.begin(), blocks.end(), std::minstd_rand(numbers.bits()));
    tables = {blocks.data()};
    view = {n_rows, positions.data(), sequences.data(), 1, tables.data()};
  }
};

TEST_CASE("cpu rope has the bits of reference and leaves the rest of the row alone") {
  Numbers numbers(24);
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    for (const int64_t head_dim : {2, 20, 32, 64, 80, 128}) {
      const Rows rows(45, 3, numbers);
      const int64_t n_heads = 5, stride = n_heads * head_dim + 7,
                    n_positions = rows.positions.back() + 1;
      const int64_t rotary_dim = n_threads % 2 ? head_dim : (head_dim + 2) / 4 * 2;
      const std::vector<float> cos =
          numbers.many(static_cast<size_t>(n_positions * rotary_dim / 2));
      const std::vector<float> sin = numbers.many(cos.size());
      const RopeView table{cos.data(), sin.data(), head_dim, rotary_dim};
      const std::vector<float> x = numbers.many(static_cast<size_t>(rows.view.n_rows * stride));
      std::vector<float> expected = x;
      reference_kernel_set().rope(expected.data(), stride, n_heads, table, rows.view, pool);
      for (const KernelSet* set : cpu_variants()) {
        std::vector<float> y = x;
        set->rope(y.data(), stride, n_heads, table, rows.view, pool);
        INFO(set->isa, " head_dim=", head_dim, " rotary=", rotary_dim, " threads=", n_threads);
        CHECK(first_difference(expected, y) == "");
      }
    }
  }
}

TEST_CASE("cpu kv_write stores the bytes of reference and no others") {
  Numbers numbers(25);
  for (const KvDType dtype : {KvDType::kF16, KvDType::kF32, KvDType::kBF16}) {
    for (const int64_t head_dim : {20, 32, 64, 80}) {
      ThreadPool pool(1 + static_cast<int>(numbers.below(4)));
      const int64_t n_kv_heads = 3, stride = n_kv_heads * head_dim + 5;
      const Rows rows(45, 9, numbers);
      std::vector<float> k = numbers.many(static_cast<size_t>(rows.view.n_rows * stride));
      const std::vector<float> v = numbers.many(k.size());
      for (float& e : k) {
        if (numbers.below(4) == 0)
          e = f32_from_f16(numbers.half()) * 1.00048828125f;  // ties between two f16
      }
      const size_t n_bytes =
          rows.blocks.size() * static_cast<size_t>(n_kv_heads * head_dim * kKvBlockTokens * 4);
      std::vector<std::byte> expected(2 * n_bytes, std::byte{0xA5});
      reference_kernel_set().kv_write(
          k.data(), v.data(), stride, rows.view,
          {dtype, n_kv_heads, head_dim, expected.data(), expected.data() + n_bytes}, pool);
      for (const KernelSet* set : cpu_variants()) {
        std::vector<std::byte> written(2 * n_bytes, std::byte{0xA5});
        set->kv_write(k.data(), v.data(), stride, rows.view,
                      {dtype, n_kv_heads, head_dim, written.data(), written.data() + n_bytes},
                      pool);
        INFO(set->isa, " dtype=", static_cast<int>(dtype), " head_dim=", head_dim);
        CHECK(first_difference(reinterpret_cast<const uint8_t*>(expected.data()),
                               reinterpret_cast<const uint8_t*>(written.data()),
                               written.size()) == "");
      }
    }
  }
}

TEST_CASE("cpu log_sum_exp has the bits of reference around every block boundary") {
  Numbers numbers(26);
  for (const int64_t vocab : {1, 15, 64, 100, 1024, 4095, 4096, 4097, 12288, 20000, 49152}) {
    for (const int64_t n_rows : {1, 2, 5}) {
      ThreadPool pool(1 + static_cast<int>(numbers.below(4)));
      std::vector<float> z(static_cast<size_t>(n_rows * vocab));
      for (float& e : z) e = numbers.below(16) == 0 ? numbers.next() : numbers.ordinary() * 8.0f;
      std::vector<float> max(static_cast<size_t>(n_rows)), sum(max.size()),
          expected_max(max.size()), expected_sum(max.size());
      reference_kernel_set().log_sum_exp(z.data(), n_rows, vocab, expected_max.data(),
                                         expected_sum.data(), pool);
      for (const KernelSet* set : cpu_variants()) {
        set->log_sum_exp(z.data(), n_rows, vocab, max.data(), sum.data(), pool);
        INFO(set->isa, " rows=", n_rows, " vocab=", vocab);
        CHECK(first_difference(expected_max, max) == "");
        CHECK(first_difference(expected_sum, sum) == "");
      }
    }
  }
}

TEST_CASE("the maximum of a row of zeros of both signs is the first of them") {
  ThreadPool pool(2);
  std::vector<float> z(9000, -1.0f);
  z[70] = -0.0f;
  z[5000] = 0.0f;
  float max = 1, sum = 0, expected_max = 1, expected_sum = 0;
  reference_kernel_set().log_sum_exp(z.data(), 1, 9000, &expected_max, &expected_sum, pool);
  CHECK(std::bit_cast<uint32_t>(expected_max) == 0x80000000u);
  for (const KernelSet* set : cpu_variants()) {
    set->log_sum_exp(z.data(), 1, 9000, &max, &sum, pool);
    CHECK(std::bit_cast<uint32_t>(max) == 0x80000000u);
    CHECK(sum == expected_sum);
  }
}

}  // namespace
}  // namespace isobit

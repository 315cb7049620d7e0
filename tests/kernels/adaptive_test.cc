// `cpu-adaptive` must be close to `reference` and must not be invariant: it is the planted fault of
// every detector, so a version of it that happened to be invariant would make those tests pass for
// nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.h"
#include "kernels/cpu/reference.h"
#include "kernels/registry.h"
#include "tensor/half.h"
#include "tests/kernels/reference_case.h"

#if defined(ISOBIT_HAVE_OPENBLAS)

#include "kernels/adaptive/adaptive.h"
#include "kernels/adaptive/adaptive_operators.h"
#include "kernels/adaptive/row_work.h"
#include "numeric/dequantise.h"

namespace isobit {
namespace {

using test::attend;
using test::bits_of;
using test::CachedSequences;
using test::Matrix;
using test::rough_values;

std::vector<float> rounded(std::vector<float> values) {
  for (float& v : values) v = f32_from_bf16(bf16_from_f32(v));
  return values;
}

std::vector<float> first_rows(const std::vector<float>& v, int64_t n_rows, int64_t width) {
  return {v.begin(), v.begin() + static_cast<long>(n_rows * width)};
}

// Largest difference relative to the largest value.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::fabs(b[i])));
    difference = std::max(difference, static_cast<double>(std::fabs(a[i] - b[i])));
  }
  return difference / largest;
}

// Random blocks of a stored dtype with sensible scales: (n_out, n_in).
struct StoredBlocks {
  std::vector<std::byte> bytes;
  TensorView view;

  StoredBlocks(DType dtype, int64_t n_out, int64_t n_in) {
    view.dtype = dtype;
    view.shape = {n_out, n_in};
    const size_t n_bytes = static_cast<size_t>(n_out) * view.row_bytes(),
                 block = traits(dtype).block_bytes;
    uint32_t state = 99;
    for (size_t i = 0; i < n_bytes; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes.push_back(static_cast<std::byte>(state >> 24));
    }
    const bool plain = !traits(dtype).quantised;
    for (size_t at = dtype == DType::kQ6_K ? 208 : 0; at < n_bytes; at += block) {
      put_f16(at, plain && dtype == DType::kBF16);
      if (dtype == DType::kQ4_1 || dtype == DType::kQ4_K) put_f16(at + 2, false);
    }
    view.bytes = bytes;
  }

 private:
  void put_f16(size_t at, bool as_bf16) {
    const float v = static_cast<float>(std::to_integer<int>(bytes[at]) - 128) / 4096.0f;
    const uint16_t h = as_bf16 ? bf16_from_f32(v) : f16_from_f32(v);
    std::memcpy(&bytes[at], &h, 2);
  }
};

TEST_CASE("it claims nothing") {
  const KernelClaims& claims = adaptive_kernel_set().claims;
  CHECK_FALSE(claims.same_bits_as_reference);
  CHECK_FALSE(claims.batch_invariant);
  CHECK_FALSE(claims.schedule_invariant);
  CHECK_FALSE(claims.thread_invariant);
  CHECK(adaptive_kernel_set().rounds_activations_to_bf16);
}

TEST_CASE(
    "matmul is close to reference, in other bits, and rounded to bf16, for every dtype and number "
    "of rows") {
  ThreadPool pool(2);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0,
                            DType::kQ4_1, DType::kQ4_K, DType::kQ6_K}) {
    CAPTURE(name(dtype));
    const Matrix plain(130, 512, 7);
    const StoredBlocks stored(dtype == DType::kF32 ? DType::kQ8_0 : dtype, 130, 512);
    const MatrixPart part{dtype == DType::kF32 ? &plain.view : &stored.view, {}};
    const auto ours = adaptive_kernel_set().pack({&part, 1}, 1, pool);
    const auto theirs = reference_kernel_set().pack({&part, 1}, 1, pool);
    CHECK(ours->packed_bytes == theirs->packed_bytes);
    for (const int64_t n_rows : {1, 2, 4, 5, 33}) {
      const std::vector<float> x = rounded(rough_values(n_rows * 512, 8));
      const std::vector<float> y = test::matmul(adaptive_kernel_set(), *ours, x, pool);
      const std::vector<float> exact = test::matmul(reference_kernel_set(), *theirs, x, pool);
      CHECK(relative_difference(y, exact) < 1e-2);
      CHECK(bits_of(y) != bits_of(exact));
      CHECK(bits_of(y) == bits_of(rounded(y)));
    }
  }
}

// Sums differ in their last bits and are rounded to bf16, which hides most of that: which element
// shows it depends on the processor's BLAS kernels, so all rows are asked.
TEST_CASE("a row's matmul result changes with the number of rows in the step") {
  constexpr int64_t kRows = 64, kOut = 576, kIn = 1536;
  ThreadPool pool(1);
  const StoredBlocks quantised(DType::kQ4_1, kOut, kIn);
  const Matrix plain(kOut, kIn, 3);
  for (const TensorView* view : {&quantised.view, &plain.view}) {
    const MatrixPart part{view, {}};
    const auto packed = adaptive_kernel_set().pack({&part, 1}, 1, pool);
    const std::vector<float> x = rough_values(kRows * kIn, 9);
    const std::vector<float> among = test::matmul(adaptive_kernel_set(), *packed, x, pool);
    int n_changed = 0;
    for (int64_t r = 0; r < kRows; ++r) {
      const std::vector<float> row(x.begin() + r * kIn, x.begin() + (r + 1) * kIn);
      const std::vector<float> alone = test::matmul(adaptive_kernel_set(), *packed, row, pool);
      const std::vector<float> same(among.begin() + r * kOut, among.begin() + (r + 1) * kOut);
      n_changed += bits_of(alone) != bits_of(same);
      CHECK(relative_difference(alone, same) < 1e-2);
    }
    MESSAGE(name(view->dtype), ": ", n_changed, " of ", kRows, " rows changed");
    CHECK(n_changed > 0);
  }
}

TEST_CASE("stacked parts and a bias land in their own columns") {
  ThreadPool pool(2);
  const Matrix first(40, 64, 4);
  const StoredBlocks second(DType::kQ8_0, 33, 64);
  const std::vector<float> bias = rough_values(33, 5);
  const MatrixPart parts[] = {{&first.view, {}}, {&second.view, bias}};
  const auto ours = adaptive_kernel_set().pack(std::span(parts), 1, pool);
  const auto theirs = reference_kernel_set().pack(std::span(parts), 1, pool);
  for (const int64_t n_rows : {1, 9}) {
    const std::vector<float> x = rough_values(n_rows * 64, 6);
    CHECK(relative_difference(test::matmul(adaptive_kernel_set(), *ours, x, pool),
                              test::matmul(reference_kernel_set(), *theirs, x, pool)) < 1e-2);
  }
}

TEST_CASE("attention is close to reference and is cut by load") {
  ThreadPool pool(2);
  const AttentionShape shape{.n_heads = 6, .n_kv_heads = 2, .head_dim = 20, .score_scale = 0.3f};
  CHECK(adaptive::splits_for_load(1, 2) > adaptive::splits_for_load(8, 2));
  for (const KvDType dtype : {KvDType::kF16, KvDType::kBF16, KvDType::kF32}) {
    const CachedSequences several(reference_kernel_set(), dtype, 2, 20, {300, 1, 129, 40}, 18, pool,
                                  {1, 3, 5, 7});
    const std::vector<float> q = rough_values(several.batch().n_rows * 120, 9);
    const std::vector<float> ours = attend(adaptive_kernel_set(), several, shape, q, pool);
    CHECK(relative_difference(ours, attend(reference_kernel_set(), several, shape, q, pool)) <
          1e-2);
    CHECK(bits_of(ours) == bits_of(rounded(ours)));
  }
}

TEST_CASE("attention under a window and a cap is close to reference") {
  ThreadPool pool(2);
  for (const int64_t window : {1, 17, 100, 128}) {
    const AttentionShape shape{.n_heads = 6,
                               .n_kv_heads = 2,
                               .head_dim = 20,
                               .score_scale = 0.2f,
                               .window = window,
                               .soft_cap = 20.0f,
                               .cap_scale = 28.85f};
    const CachedSequences several(reference_kernel_set(), KvDType::kF16, 2, 20, {300, 1, 129, 40},
                                  18, pool, {1, 3, 5, 7});
    const std::vector<float> q = rough_values(several.batch().n_rows * 120, 9);
    CHECK(relative_difference(attend(adaptive_kernel_set(), several, shape, q, pool),
                              attend(reference_kernel_set(), several, shape, q, pool)) < 1e-2);
  }
}

TEST_CASE("a split without positions adds nothing, whatever stands in the scratch") {
  ThreadPool pool(1);
  const CachedSequences sequence(reference_kernel_set(), KvDType::kF16, 1, 20, {40}, 1, pool, {1});
  const std::vector<float> q = rough_values(20, 9);
  const AttentionShape shape{.n_heads = 1, .n_kv_heads = 1, .head_dim = 20, .score_scale = 0.3f};
  std::vector<float> record(22, 7.0f), scratch(2 * 20 * kKvBlockTokens + 64, 1e30f);
  const adaptive::AttendItem empty{.q = q.data(),
                                   .q_stride = 20,
                                   .n_rows = 1,
                                   .n_heads = 1,
                                   .positions = sequence.positions.data(),
                                   .block_table = sequence.tables[0].data(),
                                   .first_block = 3,
                                   .end_block = 3,
                                   .kv_head = 0,
                                   .shape = &shape,
                                   .cache = &sequence.cache,
                                   .partial = record.data(),
                                   .partial_row_stride = 22,
                                   .partial_head_stride = 22};
  adaptive::row_work().attend(empty, scratch.data());
  CHECK(record[0] == -std::numeric_limits<float>::infinity());
  for (size_t i = 1; i < record.size(); ++i) CHECK(record[i] == 0.0f);
}

// Rounding to bf16 hides most last bits, so the unrounded partial sums are what this looks at.
TEST_CASE("a query's attention changes with the load") {
  ThreadPool pool(1);
  const AttentionShape shape{.n_heads = 6, .n_kv_heads = 2, .head_dim = 20, .score_scale = 0.3f};
  const std::vector<float> q = rough_values(64 * 120, 9);
  int n_different = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const CachedSequences alone(reference_kernel_set(), KvDType::kF16, 2, 20, {400}, 1, pool,
                                {seed});
    const CachedSequences among(reference_kernel_set(), KvDType::kF16, 2, 20,
                                {400, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44},
                                1, pool, std::vector<uint32_t>(16, seed));
    const std::vector<float> one =
        attend(adaptive_kernel_set(), alone, shape, first_rows(q, 1, 120), pool);
    const std::vector<float> many =
        attend(adaptive_kernel_set(), among, shape, first_rows(q, 16, 120), pool);
    CHECK(relative_difference(one, first_rows(many, 1, 120)) < 1e-2);
    n_different += bits_of(one) != bits_of(first_rows(many, 1, 120));
  }
  CHECK(n_different > 0);
}

TEST_CASE("row operators are the cpu set's, rounded to bf16") {
  ThreadPool pool(2);
  const KernelSet& ours = adaptive_kernel_set();
  const KernelSet& exact = reference_kernel_set();
  const int64_t width = 30001;
  std::vector<float> x = rough_values(2 * width, 1), y(x.size()), expected(x.size());
  const std::vector<float> w = rough_values(width, 2);
  ours.rms_norm(x.data(), w.data(), 1e-5f, 2, width, y.data(), pool);
  exact.rms_norm(x.data(), w.data(), 1e-5f, 2, width, expected.data(), pool);
  CHECK(bits_of(y) == bits_of(rounded(expected)));
  std::vector<float> silu(static_cast<size_t>(width)), silu_expected(static_cast<size_t>(width));
  ours.silu_mul(x.data(), 1, width, silu.data(), pool);
  exact.silu_mul(x.data(), 1, width, silu_expected.data(), pool);
  CHECK(bits_of(silu) == bits_of(rounded(silu_expected)));
  std::vector<float> sum = x, sum_expected = x;
  ours.residual(sum.data(), y.data(), 2 * width, pool);
  exact.residual(sum_expected.data(), y.data(), 2 * width, pool);
  CHECK(bits_of(sum) == bits_of(rounded(sum_expected)));
}

TEST_CASE("both variants of the row work decode every dtype exactly and round as half.h does") {
  std::vector<const adaptive::RowWork*> variants = {&adaptive::kRowWorkPortable};
  if (&adaptive::row_work() != variants[0]) variants.push_back(&adaptive::row_work());
  for (const adaptive::RowWork* work : variants) {
    for (const DType dtype : {DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0, DType::kQ4_1,
                              DType::kQ4_K, DType::kQ6_K}) {
      CAPTURE(name(dtype));
      const int64_t n = traits(dtype).quantised ? 512 : 77;
      const StoredBlocks stored(dtype, 1, n);
      std::vector<float> ours(static_cast<size_t>(n)), exact(static_cast<size_t>(n));
      work->dequantise(dtype, stored.bytes.data(), n, ours.data());
      dequantise_row(dtype, stored.bytes.data(), n, exact.data());
      CHECK(std::equal(ours.begin(), ours.end(), exact.begin(),
                       [](float a, float b) { return a == b || (a != a && b != b); }));
    }
    std::vector<float> values;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521 * 13) {
      values.push_back(f32_from_bits(static_cast<uint32_t>(bits)));
    }
    for (const float tie : {0x1.01p0f, 0x1.03p0f, 0x1.fffffep127f, 0x1p-149f, -0.0f}) {
      values.push_back(tie);
    }
    std::vector<float> ours = values;
    work->round_to_bf16(ours.data(), static_cast<int64_t>(ours.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != values[i]) {
        CHECK(ours[i] != ours[i]);
      } else {
        CHECK(bits_of(ours[i]) == bits_of(f32_from_bf16(bf16_from_f32(values[i]))));
      }
    }
  }
}

}  // namespace
}  // namespace isobit

#else

TEST_CASE("without OpenBLAS the set is listed and refuses by name") {
  MESSAGE("SKIPPED: the operators of cpu-adaptive (built without OpenBLAS)");
  CHECK_THROWS_AS(isobit::kernel_set("cpu-adaptive"), isobit::Error);
}

#endif

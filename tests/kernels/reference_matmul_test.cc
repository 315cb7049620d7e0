// matmul of `reference` against the sums of the contract, spelled out, for stacked, permuted and
// quantised weights.
#include <doctest/doctest.h>

#include <memory>

#include "kernels/cpu/reference.h"
#include "numeric/dequantise.h"
#include "numeric/sums.h"
#include "tensor/half.h"
#include "tests/kernels/reference_case.h"

namespace isobit {
namespace {

using test::bits_of;
using test::Matrix;
using test::rough_values;

const KernelSet& kSet = reference_kernel_set();

TEST_CASE("every element is Segments of Trees over its stored row") {
  ThreadPool pool(2);
  for (const auto& [n_in, n_segments] :
       {std::pair{1, 1}, {127, 1}, {128, 1}, {129, 1}, {576, 3}, {640, 4}, {1536, 3}}) {
    const Matrix w(5, n_in, 1);
    const MatrixPart part{&w.view, {}};
    const auto packed = kSet.pack({&part, 1}, n_segments, pool);
    CHECK(packed->n_out == 5);
    CHECK(packed->n_in == n_in);
    const std::vector<float> x = rough_values(3 * n_in, 2),
                             y = test::matmul(kSet, *packed, x, pool);
    for (size_t r = 0; r < 3; ++r) {
      for (size_t n = 0; n < 5; ++n) {
        const auto k = static_cast<size_t>(n_in);
        CHECK(bits_of(y[r * 5 + n]) ==
              bits_of(segments_dot(&x[r * k], &w.values[n * k], n_in, n_segments)));
      }
    }
  }
}

TEST_CASE("a stack: each part keeps its dtype, and only a part with a bias gets one add") {
  ThreadPool pool(1);
  const Matrix first(2, 64, 3);
  std::vector<std::byte> q8(3 * 2 * 34);
  for (size_t i = 0; i < q8.size(); ++i) q8[i] = static_cast<std::byte>(i * 37 % 256);
  for (size_t block = 0; block < 6; ++block) {
    const uint16_t d = f16_from_f32(0.01f * static_cast<float>(block + 1));
    std::memcpy(&q8[block * 34], &d, 2);
  }
  const TensorView second{"q8", DType::kQ8_0, {3, 64}, q8, RowOrder::kAsStored, 0};
  const std::vector<float> bias = {0.5f, -0.25f, 1e-3f};
  const MatrixPart parts[] = {{&first.view, {}}, {&second, bias}};
  const auto packed = kSet.pack(std::span(parts), 1, pool);
  REQUIRE(packed->n_out == 5);
  CHECK(packed->packed_bytes == 2 * 64 * 4 + q8.size() + 3 * 4);
  const std::vector<float> x = rough_values(64, 4), y = test::matmul(kSet, *packed, x, pool);
  CHECK(bits_of(y[1]) == bits_of(tree_dot(x.data(), &first.values[64], 64)));
  std::vector<float> row(64);
  for (size_t n = 0; n < 3; ++n) {
    dequantise_row(DType::kQ8_0, &q8[n * 68], 64, row.data());
    CHECK(bits_of(y[2 + n]) == bits_of(tree_dot(x.data(), row.data(), 64) + bias[n]));
  }
}

TEST_CASE("interleaved heads of a GGUF are put back into the model's order") {
  ThreadPool pool(1);
  Matrix w(8, 16, 5);  // two heads of four rows
  w.view.row_order = RowOrder::kInterleavedHalves;
  w.view.head_dim = 4;
  const MatrixPart part{&w.view, {}};
  const auto packed = kSet.pack({&part, 1}, 1, pool);
  const std::vector<float> x = rough_values(16, 6), y = test::matmul(kSet, *packed, x, pool);
  const int stored[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (int n = 0; n < 8; ++n) {
    CHECK(bits_of(y[static_cast<size_t>(n)]) ==
          bits_of(tree_dot(x.data(), &w.values[static_cast<size_t>(stored[n] * 16)], 16)));
  }
}

TEST_CASE("a row's result depends neither on the other rows nor on the threads") {
  const Matrix w(33, 257, 7);
  const MatrixPart part{&w.view, {}};
  ThreadPool one(1), four(4);
  const auto packed = kSet.pack({&part, 1}, 1, one);
  const std::vector<float> x = rough_values(9 * 257, 8), all = test::matmul(kSet, *packed, x, four);
  for (size_t r = 0; r < 9; ++r) {
    const std::vector<float> row(x.begin() + static_cast<long>(r * 257),
                                 x.begin() + static_cast<long>((r + 1) * 257));
    const std::vector<float> alone = test::matmul(kSet, *packed, row, one);
    CHECK(bits_of(alone) ==
          bits_of(std::vector<float>(all.begin() + static_cast<long>(r * 33),
                                     all.begin() + static_cast<long>((r + 1) * 33))));
  }
  CHECK(test::golden(all) == 0x89d1717e27ec099f);
}

TEST_CASE("what cannot be packed is refused") {
  ThreadPool pool(1);
  const Matrix w(2, 10, 9), other(2, 12, 9);
  const MatrixPart uneven[] = {{&w.view, {}}, {&other.view, {}}};
  CHECK_THROWS(kSet.pack(std::span(uneven), 1, pool));
  const MatrixPart part{&w.view, {}};
  CHECK_THROWS(kSet.pack({&part, 1}, 3, pool));
  const std::vector<float> bias(3);
  const MatrixPart long_bias{&w.view, bias};
  CHECK_THROWS(kSet.pack({&long_bias, 1}, 1, pool));
}

}  // namespace
}  // namespace isobit

// matmul of every cpu variant against `reference`: the same bits for every dtype, shape, segment
// count, thread count and number of rows.
#include <numeric>

#include "numeric/block_parts.h"
#include "tests/kernels/cpu_variants.h"
#include "tests/kernels/stored_matrix.h"

namespace isobit {
namespace {

constexpr int64_t kRowCounts[] = {1,  2,  3,  4,  7,  8,  9,  16,  17,
                                  31, 32, 33, 44, 45, 64, 65, 128, 129};
constexpr int64_t kMostRows = 129;

struct Case {
  std::vector<const Stored*> parts;
  std::vector<std::span<const float>> biases;
  int64_t n_segments = 1;
};

// Runs reference once over kMostRows rows, then every variant over every row count, each at the end
// of those rows: a row's result depends on neither its place nor its neighbours.
void check_case(const Case& c, std::span<const int64_t> row_counts, int n_threads,
                Numbers& numbers) {
  std::vector<MatrixPart> parts;
  for (size_t i = 0; i < c.parts.size(); ++i) parts.push_back({&c.parts[i]->view, c.biases[i]});
  ThreadPool pool(n_threads);
  const KernelSet& reference = reference_kernel_set();
  const auto reference_matrix = reference.pack(parts, c.n_segments, pool);
  const int64_t n_in = reference_matrix->n_in, n_out = reference_matrix->n_out;
  const std::vector<float> x = numbers.many(static_cast<size_t>(kMostRows * n_in));
  const int64_t most = row_counts.back();
  std::vector<float> expected(static_cast<size_t>(kMostRows * n_out));
  reference.matmul(*reference_matrix, x.data() + (kMostRows - most) * n_in, most,
                   expected.data() + (kMostRows - most) * n_out, pool);
  for (const KernelSet* set : cpu_variants()) {
    const auto matrix = set->pack(parts, c.n_segments, pool);
    REQUIRE(matrix->n_out == n_out);
    REQUIRE(matrix->n_in == n_in);
    for (const int64_t m : row_counts) {
      const auto first = kMostRows - m;
      std::vector<float> y(static_cast<size_t>(m * n_out), 12345.0f);
      set->matmul(*matrix, x.data() + first * n_in, m, y.data(), pool);
      const std::string difference =
          first_difference(expected.data() + first * n_out, y.data(), y.size());
      INFO(set->isa, " ", name(c.parts[0]->view.dtype), " M=", m, " K=", n_in, " N=", n_out,
           " R=", c.n_segments, " threads=", n_threads);
      CHECK(difference == "");
    }
  }
}

TEST_CASE("cpu matmul has the bits of reference at every number of rows up to 110") {
  Numbers numbers(10);
  std::vector<int64_t> rows(110);
  std::iota(rows.begin(), rows.end(), 1);
  for (const DType dtype : kDTypes) {
    const Stored w = random_matrix(dtype, 35, fits(dtype, 160) ? 160 : 256, numbers);
    check_case({{&w}, {{}}, 1}, rows, 2, numbers);
  }
}

TEST_CASE("cpu matmul has the bits of reference where the number of rows changes the kernel") {
  Numbers numbers(11);
  for (const DType dtype : kDTypes) {
    const int64_t n_in = fits(dtype, 401) ? 401 : fits(dtype, 416) ? 416 : 768;
    const Stored w = random_matrix(dtype, 45, n_in, numbers);
    check_case({{&w}, {{}}, 1}, kRowCounts, 2, numbers);
  }
}

TEST_CASE("cpu matmul has the bits of reference for every length of K and of N") {
  Numbers numbers(12);
  constexpr int64_t kRows[] = {1, 2, 4, 6, 13};
  for (const DType dtype : kDTypes) {
    for (const int64_t n_in :
         {1, 31, 32, 64, 127, 128, 129, 160, 255, 256, 288, 384, 511, 512, 640, 1024, 1280}) {
      if (!fits(dtype, n_in)) continue;
      const Stored w = random_matrix(dtype, 1 + numbers.below(70), n_in, numbers);
      check_case({{&w}, {{}}, 1}, kRows, 1, numbers);
    }
    for (const int64_t n_out : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 100}) {
      const Stored w = random_matrix(dtype, n_out, 256, numbers);
      check_case({{&w}, {{}}, 1}, kRows, 3, numbers);
    }
  }
}

TEST_CASE("cpu matmul combines segments as reference does, also where a segment cuts a block") {
  Numbers numbers(13);
  constexpr int64_t kRows[] = {1, 2, 3, 5, 8, 20};
  for (const DType dtype : kDTypes) {
    for (const int64_t n_segments : {2, 3, 4, 8}) {
      // Segments of 200 and 168 begin and end inside a block of 32, those of 192, 576 and 1,024 do
      // not.
      for (const int64_t width : {40, 168, 192, 200, 256, 576, 1024}) {
        const int64_t n_in = width * n_segments;
        if (!fits(dtype, n_in) || n_in > 3072) continue;
        const Stored w = random_matrix(dtype, 37, n_in, numbers);
        check_case({{&w}, {{}}, n_segments}, kRows, 2, numbers);
      }
    }
  }
}

TEST_CASE("cpu matmul stacks parts of different dtypes, with and without bias") {
  Numbers numbers(14);
  constexpr int64_t kRows[] = {1, 3, 12, 25};
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    const Stored q = random_matrix(DType::kQ4_1, 70, 512, numbers),
                 k = random_matrix(DType::kQ6_K, 33, 512, numbers);
    const Stored v = random_matrix(DType::kF16, 64, 512, numbers),
                 last = random_matrix(DType::kF32, 5, 512, numbers);
    const std::vector<float> q_bias = numbers.many(70), v_bias = numbers.many(64),
                             last_bias = numbers.many(5);
    check_case({{&q, &k, &v, &last}, {q_bias, {}, v_bias, last_bias}, 1}, kRows, n_threads,
               numbers);
  }
}

TEST_CASE("cpu matmul puts interleaved rows back") {
  Numbers numbers(15);
  constexpr int64_t kRows[] = {1, 9};
  Stored q = random_matrix(DType::kQ4_1, 6 * 16, 256, numbers);
  q.view.row_order = RowOrder::kInterleavedHalves;
  q.view.head_dim = 16;
  check_case({{&q}, {{}}, 1}, kRows, 2, numbers);
}

TEST_CASE("cpu packing takes the stored bytes, or int8 with steps for formats in parts") {
  Numbers numbers(16);
  ThreadPool pool(2);
  constexpr size_t kRows = 96, kColumns = 512;
  for (const DType dtype : kDTypes) {
    const Stored w = random_matrix(dtype, kRows, kColumns, numbers);
    const MatrixPart part{&w.view, {}};
    const size_t steps = (has_offsets(dtype) ? 2 : 1) * kRows * (kColumns / 16) * 4;
    const size_t expected = has_block_parts(dtype) ? kRows * kColumns + steps : w.bytes.size();
    for (const KernelSet* set : cpu_variants())
      CHECK(set->pack({&part, 1}, 1, pool)->packed_bytes == expected);
  }
}

TEST_CASE("a planted ulp in one weight is found by the comparison") {
  Numbers numbers(17);
  ThreadPool pool(2);
  std::vector<float> weights(40 * 300);
  for (float& w : weights) w = numbers.ordinary();
  weights.back() = 1.0f;
  TensorView view;
  view.shape = {40, 300};
  view.bytes = std::as_bytes(std::span(weights));
  const MatrixPart part{&view, {}};
  std::vector<float> x(300, 1.0f), expected(40), y(40);
  x.back() = 0x1p23f;
  const KernelSet& reference = reference_kernel_set();
  reference.matmul(*reference.pack({&part, 1}, 1, pool), x.data(), 1, expected.data(), pool);
  weights.back() = 0x1.000002p0f;
  for (const KernelSet* set : cpu_variants()) {
    set->matmul(*set->pack({&part, 1}, 1, pool), x.data(), 1, y.data(), pool);
    CHECK(first_difference(expected, y).starts_with("element 39 of 40"));
  }
}

}  // namespace
}  // namespace isobit

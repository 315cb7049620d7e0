// matmul of `cpu-adaptive`: OpenBLAS on the F32 rows as they are; quantised and 16-bit rows stay
// stored and become f32 a few at a time, in a buffer that fits the cache. Which routine runs
// depends on the number of rows in the step, as it does in every serving engine, and so do the
// bits.
//
// OpenBLAS itself runs on one thread: the pool's workers each call it for a range of output
// columns. (Its own pool would compete with the spinning workers.)
#include <cblas.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "kernels/adaptive/adaptive_operators.h"
#include "kernels/adaptive/row_work.h"

namespace isobit::adaptive {
namespace {

constexpr int64_t kFewRows =
    4;  // up to here each weight row is decoded once and multiplied row by row
constexpr int64_t kPanelColumns = 96;  // decoded at once otherwise

struct StoredPart {
  DType dtype = DType::kF32;
  int64_t n_out = 0;
  int64_t first_column = 0;
  size_t row_bytes = 0;
  std::vector<std::byte> rows;  // (n_out, row_bytes), in the model's order
  std::vector<float> bias;      // (n_out), or empty
};

struct StoredMatrix : PackedMatrix {
  std::vector<StoredPart> parts;
};

StoredPart copy_part(const MatrixPart& part, int64_t first_column, ThreadPool& pool) {
  const TensorView& weight = *part.weight;
  StoredPart stored{weight.dtype, weight.n_rows(),
                    first_column, weight.row_bytes(),
                    {},           {part.bias.begin(), part.bias.end()}};
  stored.rows.resize(static_cast<size_t>(stored.n_out) * stored.row_bytes);
  pool.run(static_cast<size_t>(stored.n_out), [&](size_t n, int) {
    std::memcpy(stored.rows.data() + n * stored.row_bytes, weight.row(static_cast<int64_t>(n)),
                stored.row_bytes);
  });
  return stored;
}

// Columns [first, first + n) of one part, for all rows of x.
struct Range {
  const StoredPart* part;
  int64_t first;
  int64_t n;

  const std::byte* row(int64_t i) const {
    return part->rows.data() + static_cast<size_t>(first + i) * part->row_bytes;
  }
};

// Output columns of an F32 part per call: two calls a thread when there is much to do, small ones
// that stay in cache when the rows are few and the time goes into reading weights.
int64_t columns_per_call(int64_t n_out, int64_t n_rows, int n_threads) {
  constexpr int64_t kSmallest = 64, kLargest = 768;
  if (n_rows <= 16) return kSmallest;
  const int64_t share = (n_out + 2 * n_threads - 1) / (2 * n_threads);
  return std::clamp((share + 15) / 16 * 16, kSmallest, kLargest);
}

std::vector<Range> ranges_of(const StoredMatrix& matrix, int64_t n_rows, int n_threads) {
  std::vector<Range> ranges;
  for (const StoredPart& part : matrix.parts) {
    const int64_t width =
        part.dtype == DType::kF32 ? columns_per_call(part.n_out, n_rows, n_threads) : kPanelColumns;
    for (int64_t first = 0; first < part.n_out; first += width) {
      ranges.push_back({&part, first, std::min(width, part.n_out - first)});
    }
  }
  return ranges;
}

struct Product {
  const float* x;  // (n_rows, n_in)
  int64_t n_rows;
  int64_t n_in;
  float* y;  // (n_rows, n_out)
  int64_t n_out;
};

// y = x w^T for weights (n_columns, n_in) in f32, n_columns columns from y on.
void multiply_f32(const Product& p, const float* w, int64_t n_columns, float* y) {
  const auto n_in = static_cast<blasint>(p.n_in), n = static_cast<blasint>(n_columns);
  if (p.n_rows == 1) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, n_in, 1.0f, w, n_in, p.x, 1, 0.0f, y, 1);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(p.n_rows), n, n_in,
                1.0f, p.x, n_in, w, n_in, 0.0f, y, static_cast<blasint>(p.n_out));
  }
}

// Decodes one weight row at a time; it is still in the first-level cache when it is multiplied.
void multiply_few_rows(const Product& p, const Range& range, float* decoded, float* y) {
  const RowWork& work = row_work();
  for (int64_t n = 0; n < range.n; ++n) {
    work.dequantise(range.part->dtype, range.row(n), p.n_in, decoded);
    for (int64_t r = 0; r < p.n_rows; ++r) {
      y[r * p.n_out + n] = work.dot(decoded, p.x + r * p.n_in, p.n_in);
    }
  }
}

void multiply_panel(const Product& p, const Range& range, float* decoded, float* y) {
  for (int64_t n = 0; n < range.n; ++n) {
    row_work().dequantise(range.part->dtype, range.row(n), p.n_in, decoded + n * p.n_in);
  }
  multiply_f32(p, decoded, range.n, y);
}

void finish_rows(const Product& p, const Range& range, float* y) {
  for (int64_t r = 0; r < p.n_rows; ++r) {
    float* row = y + r * p.n_out;
    if (!range.part->bias.empty()) {
      for (int64_t n = 0; n < range.n; ++n) {
        row[n] += range.part->bias[static_cast<size_t>(range.first + n)];
      }
    }
    row_work().round_to_bf16(row, range.n);
  }
}

}  // namespace

std::unique_ptr<PackedMatrix> pack(std::span<const MatrixPart> parts, int64_t n_segments,
                                   ThreadPool& pool) {
  ISOBIT_REQUIRE(!parts.empty());
  auto matrix = std::make_unique<StoredMatrix>();
  matrix->n_in = parts[0].weight->row_elems();
  matrix->n_segments =
      n_segments;  // kept for the record: this set has one sum, in whatever order it comes
  for (const MatrixPart& part : parts) {
    ISOBIT_REQUIRE(part.weight->row_elems() == matrix->n_in && engine_supports(part.weight->dtype));
    matrix->parts.push_back(copy_part(part, matrix->n_out, pool));
    matrix->n_out += matrix->parts.back().n_out;
    matrix->packed_bytes += matrix->parts.back().rows.size() + part.bias.size() * sizeof(float);
  }
  return matrix;
}

void matmul(const PackedMatrix& w, const float* x, int64_t n_rows, float* y, ThreadPool& pool) {
  const auto* matrix = dynamic_cast<const StoredMatrix*>(&w);
  ISOBIT_REQUIRE(matrix != nullptr);  // packed by this set
  static const bool one_thread = (openblas_set_num_threads(1), true);
  ISOBIT_REQUIRE(one_thread);
  const Product product{x, n_rows, w.n_in, y, w.n_out};
  const std::vector<Range> ranges = ranges_of(*matrix, n_rows, pool.n_threads());
  std::vector<std::vector<float>> decoded(static_cast<size_t>(pool.n_threads()));
  pool.run(ranges.size(), [&](size_t i, int thread) {
    const Range& range = ranges[i];
    float* first = y + range.part->first_column + range.first;
    std::vector<float>& own = decoded[static_cast<size_t>(thread)];
    if (range.part->dtype == DType::kF32) {
      multiply_f32(product, reinterpret_cast<const float*>(range.row(0)), range.n, first);
    } else {
      own.resize(static_cast<size_t>(kPanelColumns * w.n_in));
      n_rows <= kFewRows ? multiply_few_rows(product, range, own.data(), first)
                         : multiply_panel(product, range, own.data(), first);
    }
    finish_rows(product, range, first);
  });
}

}  // namespace isobit::adaptive

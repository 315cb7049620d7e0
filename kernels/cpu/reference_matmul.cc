// matmul: y[r][n] is Segments(Tree) over k of x[r][k] * w[n][k], with w[n] exactly what its stored
// elements mean in f32 (numeric contract sections 2 and 4), then one add of the bias.
#include <cstring>
#include <functional>

#include "base/error.h"
#include "kernels/cpu/reference_operators.h"
#include "numeric/dequantise.h"
#include "numeric/sums.h"

namespace isobit::reference {
namespace {

// One stored matrix of a stack: its rows in the model's order, still quantised.
struct StoredPart {
  DType dtype = DType::kF32;
  int64_t n_out = 0;
  size_t row_bytes = 0;
  std::vector<std::byte> rows;  // (n_out, row_bytes)
  std::vector<float> bias;      // (n_out), or empty
};

struct StoredMatrix : PackedMatrix {
  std::vector<StoredPart> parts;
};

StoredPart copy_part(const MatrixPart& part, int64_t n_in) {
  const TensorView& weight = *part.weight;
  ISOBIT_REQUIRE(weight.row_elems() == n_in && engine_supports(weight.dtype));
  ISOBIT_REQUIRE(part.bias.empty() || static_cast<int64_t>(part.bias.size()) == weight.n_rows());
  StoredPart stored{
      weight.dtype, weight.n_rows(), weight.row_bytes(), {}, {part.bias.begin(), part.bias.end()}};
  stored.rows.resize(static_cast<size_t>(stored.n_out) * stored.row_bytes);
  for (int64_t n = 0; n < stored.n_out; ++n) {
    std::memcpy(stored.rows.data() + static_cast<size_t>(n) * stored.row_bytes, weight.row(n),
                stored.row_bytes);
  }
  return stored;
}

std::vector<float> weights_of(const StoredPart& part, int64_t n, int64_t n_in) {
  std::vector<float> weights(static_cast<size_t>(n_in));
  dequantise_row(part.dtype, part.rows.data() + static_cast<size_t>(n) * part.row_bytes, n_in,
                 weights.data());
  return weights;
}

// Column `n` of `part` for every row of x; y points at that column of the first row.
void output_column(const StoredPart& part, int64_t n, const PackedMatrix& w, const float* x,
                   int64_t n_rows, float* y) {
  const std::vector<float> weights = weights_of(part, n, w.n_in);
  for (int64_t r = 0; r < n_rows; ++r) {
    const float sum = segments_dot(x + r * w.n_in, weights.data(), w.n_in, w.n_segments);
    y[r * w.n_out] = part.bias.empty() ? sum : sum + part.bias[static_cast<size_t>(n)];
  }
}

// The same with a sum for each segment, (n_segments, n_rows, n_out).
void output_column_segments(const StoredPart& part, int64_t n, const PackedMatrix& w,
                            const float* x, int64_t n_rows, float* y) {
  ISOBIT_REQUIRE(part.bias.empty());
  const std::vector<float> weights = weights_of(part, n, w.n_in);
  const int64_t width = w.n_in / w.n_segments;
  for (int64_t s = 0; s < w.n_segments; ++s) {
    for (int64_t r = 0; r < n_rows; ++r) {
      y[(s * n_rows + r) * w.n_out] =
          tree_dot(x + r * w.n_in + s * width, weights.data() + s * width, width);
    }
  }
}

// `column` for every column of every part; y points at the column it is given.
void each_column(const PackedMatrix& w, float* y, ThreadPool& pool,
                 const std::function<void(const StoredPart&, int64_t n, float* y)>& column) {
  const auto* matrix = dynamic_cast<const StoredMatrix*>(&w);
  ISOBIT_REQUIRE(matrix != nullptr);  // packed by this set
  for (const StoredPart& part : matrix->parts) {
    pool.run(static_cast<size_t>(part.n_out), [&](size_t n, int) {
      column(part, static_cast<int64_t>(n), y + static_cast<int64_t>(n));
    });
    y += part.n_out;
  }
}

}  // namespace

std::unique_ptr<PackedMatrix> pack(std::span<const MatrixPart> parts, int64_t n_segments,
                                   ThreadPool&) {
  ISOBIT_REQUIRE(!parts.empty() && n_segments > 0);
  auto matrix = std::make_unique<StoredMatrix>();
  matrix->n_in = parts[0].weight->row_elems();
  matrix->n_segments = n_segments;
  ISOBIT_REQUIRE(matrix->n_in > 0 && matrix->n_in % n_segments == 0);
  for (const MatrixPart& part : parts) {
    matrix->parts.push_back(copy_part(part, matrix->n_in));
    const StoredPart& stored = matrix->parts.back();
    matrix->n_out += stored.n_out;
    matrix->packed_bytes += stored.rows.size() + stored.bias.size() * sizeof(float);
  }
  return matrix;
}

void matmul(const PackedMatrix& w, const float* x, int64_t n_rows, float* y, ThreadPool& pool) {
  each_column(w, y, pool, [&](const StoredPart& part, int64_t n, float* column) {
    output_column(part, n, w, x, n_rows, column);
  });
}

void matmul_segments(const PackedMatrix& w, const float* x, int64_t n_rows, float* y,
                     ThreadPool& pool) {
  each_column(w, y, pool, [&](const StoredPart& part, int64_t n, float* column) {
    output_column_segments(part, n, w, x, n_rows, column);
  });
}

}  // namespace isobit::reference

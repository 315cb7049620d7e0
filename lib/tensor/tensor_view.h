// A named, typed, row-major range of somebody else's bytes (usually a mapped checkpoint file).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace isobit {

// How the rows of a stored matrix relate to the rows of the model's matrix.
enum class RowOrder {
  kAsStored,
  // llama.cpp's converter interleaves the two halves of every rotary head of Q and K: stored row 2i
  // of a head is model row i, stored row 2i+1 is model row i + head_dim/2.
  kInterleavedHalves,
};

struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // outermost first; a matrix is (n_out, n_in), contiguous along n_in
  std::span<const std::byte> bytes;  // possibly misaligned: read with memcpy
  RowOrder row_order = RowOrder::kAsStored;
  int64_t head_dim = 0;  // rows per head when row_order is kInterleavedHalves
  // FP8: element (r, c) is its value times element (r / scale_rows, c / scale_columns) of this
  // matrix. Null: no scales.
  const TensorView* scales = nullptr;
  int64_t scale_rows = 0;
  int64_t scale_columns = 0;

  int64_t n_elems() const;
  int64_t n_rows() const;  // product of all but the last dimension
  int64_t row_elems() const { return shape.empty() ? 1 : shape.back(); }
  size_t row_bytes() const;

  // The stored row that holds the model's row `model_row`.
  int64_t stored_row(int64_t model_row) const;
  // Bytes of the model's row `model_row`, after undoing row_order.
  const std::byte* row(int64_t model_row) const {
    return bytes.data() + static_cast<size_t>(stored_row(model_row)) * row_bytes();
  }
};

}  // namespace isobit

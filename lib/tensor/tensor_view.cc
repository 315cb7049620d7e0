#include "tensor/tensor_view.h"

namespace isobit {

int64_t TensorView::n_elems() const {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

int64_t TensorView::n_rows() const {
  int64_t n = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) n *= shape[i];
  return n;
}

size_t TensorView::row_bytes() const {
  const DTypeTraits& t = traits(dtype);
  return static_cast<size_t>(row_elems()) / t.block_elems * t.block_bytes;
}

int64_t TensorView::stored_row(int64_t model_row) const {
  if (row_order == RowOrder::kAsStored) return model_row;
  const int64_t head = model_row / head_dim, in_head = model_row % head_dim, half = head_dim / 2;
  return head * head_dim + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
}

}  // namespace isobit

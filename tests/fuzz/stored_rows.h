// Reading what a checkpoint that was accepted says it holds: every row the engine would read.
#pragma once

#include <vector>

#include "numeric/dequantise.h"

namespace isobit::test {

inline void read_rows(const TensorView& view) {
  if (!engine_reads(view.dtype) || view.n_elems() == 0) return;
  std::vector<float> row(static_cast<size_t>(view.row_elems()));
  for (int64_t r = 0; r < view.n_rows(); ++r) dequantise_tensor_row(view, r, row.data());
}

}  // namespace isobit::test

#include "checkpoint/stored_tensor.h"

#include "checkpoint/refusal.h"

namespace isobit {

TensorView view_of(const StoredTensor& tensor, std::span<const std::byte> file,
                   const std::string& where) {
  if (!tensor.dtype) {
    refuse(where,
           "tensor " + shown(tensor.name) + " is stored as " + tensor.type_name +
               ", which this version does not read",
           "convert it to F32, F16, BF16, Q8_0 or a K-quant");
  }
  ISOBIT_REQUIRE(tensor.offset_bytes <= file.size() &&
                 tensor.n_bytes <= file.size() - tensor.offset_bytes);
  TensorView view;
  view.name = tensor.name;
  view.dtype = *tensor.dtype;
  view.shape = tensor.shape;
  view.bytes = file.subspan(tensor.offset_bytes, tensor.n_bytes);
  return view;
}

std::optional<int64_t> checked_n_elems(std::span<const int64_t> shape) {
  // A zero must not hide that the other dimensions overflow: row counts are computed from those
  // alone.
  int64_t n = 1;
  bool empty = false;
  for (const int64_t d : shape) {
    empty = empty || d == 0;
    if (__builtin_mul_overflow(n, d == 0 ? 1 : d, &n)) return std::nullopt;
  }
  return empty ? 0 : n;
}

}  // namespace isobit

// One tensor as its file describes it, after every length has been checked against the file, before
// any name is mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor_view.h"

namespace isobit {

struct StoredTensor {
  std::string name;            // as stored
  std::string type_name;       // as the format spells it: "BF16", "IQ4_NL"
  std::optional<DType> dtype;  // empty: a type of the format that isobit has no name for
  std::vector<int64_t> shape;  // outermost first, each >= 0
  size_t offset_bytes = 0;     // from the start of the file
  size_t n_bytes = 0;
  size_t file_index = 0;  // which of the files, of a GGUF in several
};

// The view of `tensor` in `file`. Throws Error(environment) naming the tensor when its type has no
// DType.
TensorView view_of(const StoredTensor& tensor, std::span<const std::byte> file,
                   const std::string& where);

// The product of `shape` (each >= 0), or nothing when it does not fit in an int64.
std::optional<int64_t> checked_n_elems(std::span<const int64_t> shape);

}  // namespace isobit

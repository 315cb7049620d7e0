// A whole safetensors file, header and buffer.
#include "checkpoint/safetensors.h"

#include <span>

#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 4 * kMiB;

void read_hostile(std::string_view input) {
  const auto bytes = std::as_bytes(std::span(input));
  size_t at = 0;
  for (const StoredTensor& tensor : parse_safetensors(bytes, "f").tensors) {
    expect(
        tensor.offset_bytes <= bytes.size() && tensor.n_bytes <= bytes.size() - tensor.offset_bytes,
        "a tensor outside the file");
    expect(at == 0 || tensor.offset_bytes == at, "a hole or an overlap");
    at = tensor.offset_bytes + tensor.n_bytes;
    if (tensor.dtype) (void)view_of(tensor, bytes, "f");
  }
}

}  // namespace isobit::test

// Element types of stored tensors, plain and block-quantised.
//
// A block format stores `block_elems` consecutive elements of one row in `block_bytes`. Layouts:
// ggml's, as described in the GGUF specification; what a block means in f32 is numeric contract
// section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace isobit {

enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kF64,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
  kF8E4M3,
  kF8E5M2,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
};

struct DTypeTraits {
  std::string_view name;  // as users see it: "F32", "Q4_1"
  size_t block_elems;     // 1 for plain types
  size_t block_bytes;
  bool quantised;
};

const DTypeTraits& traits(DType dtype);
inline std::string_view name(DType dtype) {
  return traits(dtype).name;
}
std::optional<DType> dtype_from_name(std::string_view name);

// The types that the engine computes with in this version: F32 F16 BF16 and the block formats
// above.
bool engine_supports(DType dtype);
// The types that it can be given: these, and F8_E4M3, which becomes F32 when it is loaded.
bool engine_reads(DType dtype);

}  // namespace isobit

// What a stored element means in f32 (numeric contract section 4).
//
// Every format is exact except where an offset is added: the products of an f16 scale and a small
// integer fit into 24 bits, and the one addition is an fma. Layouts are ggml's. Vector code may
// unpack in any way it likes as long as it performs these roundings.
//
//   F32 F16 BF16  exact
//   Q8_0  34 bytes, 32 elements: f16 d, 32 int8 q
//         d * q
//   Q4_0  18 bytes, 32 elements: f16 d, 16 bytes whose low nibbles are elements 0..15
//         d * (q - 8)
//   Q4_1  20 bytes, 32 elements: f16 d, f16 m, 16 bytes in Q4_0's order
//         fma(q, d, m)
//   Q4_K  144 bytes, 256 elements: f16 d, f16 dmin, 12 bytes of 6-bit scales sc and minima m of 8
//         groups of 32, 128 bytes: byte 32g + i has elements 64g + i (low) and 64g + 32 + i
//         fma(q, d * sc, -(dmin * m))
//   Q6_K  210 bytes, 256 elements: 128 bytes of low nibbles, 64 of high bit pairs, 16 int8 scales
//         of 16 elements each, f16 d
//         (d * scale) * (q - 32)
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace isobit {

// The 6-bit scales and minima of a Q4_K block, from its 12 packed bytes.
struct KQuantScales {
  uint8_t scale[8];
  uint8_t minimum[8];
};
KQuantScales unpack_k_scales(const uint8_t* packed);

// Writes n elements. `bytes` holds n / block_elems whole blocks and may be misaligned.
// REQUIRES: engine_supports(dtype); n is a multiple of the block.
void dequantise_row(DType dtype, const std::byte* bytes, int64_t n, float* out);

}  // namespace isobit

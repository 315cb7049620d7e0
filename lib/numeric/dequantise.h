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
//
// The others are decoded by block_parts.cc:
//
//   Q5_0  22 bytes, 32 elements: f16 d, 32 fifth bits, 16 bytes of nibbles in Q4_0's order
//         d * (q - 16)
//   Q5_1  24 bytes, 32 elements: f16 d, f16 m, then as Q5_0
//         fma(q, d, m)
//   Q2_K  84 bytes, 256 elements: 16 bytes of 4-bit scales sc (low) and minima m (high) of groups
//         of 16, 64 bytes of pairs, f16 d, f16 dmin
//         fma(q, d * sc, -(dmin * m))
//   Q3_K  110 bytes, 256 elements: 32 bytes of third bits, 64 bytes of pairs, 12 bytes of 6-bit
//         scales of groups of 16, f16 d
//         (d * (scale - 32)) * (q - 4)
//   Q5_K  176 bytes, 256 elements: as Q4_K with 32 bytes of fifth bits before the nibbles
//         fma(q, d * sc, -(dmin * m))
//   IQ4_NL  18 bytes, 32 elements: f16 d, 16 bytes of nibbles that index a table of int8 v
//         d * v
//   IQ4_XS  136 bytes, 256 elements: f16 d, 8 scales of 6 bits, the nibbles and table of IQ4_NL
//         (d * (scale - 32)) * v
//   MXFP4  17 bytes, 32 elements: E8M0 exponent e, 16 bytes of E2M1 nibbles
//         2^(e - 128) * 2v
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/tensor_view.h"

namespace isobit {

// The 6-bit scales and minima of a Q4_K block, from its 12 packed bytes.
struct KQuantScales {
  uint8_t scale[8];
  uint8_t minimum[8];
};
KQuantScales unpack_k_scales(const uint8_t* packed);

// Writes n elements. `bytes` holds n / block_elems whole blocks and may be misaligned.
// REQUIRES: engine_reads(dtype); n is a multiple of the block. Of FP8 these are the unscaled
// values.
void dequantise_row(DType dtype, const std::byte* bytes, int64_t n, float* out);

// One row of a stored matrix as f32, in the model's order of rows; an FP8 element is its value
// times its scale, one mul. REQUIRES: engine_reads(tensor.dtype).
void dequantise_tensor_row(const TensorView& tensor, int64_t model_row, float* out);

}  // namespace isobit

// Blocks of the less usual quantised formats, taken apart: small integers, and what each group of
// 16 of them is multiplied by and moved by. Every format of ggml that packs scales and integers is
// of this shape, so one pair of vector kernels serves them all.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace isobit {

// A weight is q * step, or where the format has offsets fma(q, step, offset): numeric contract
// section 4. 32 or 256 elements; groups of 16.
struct BlockParts {
  int8_t q[256];
  float step[16];
  float offset[16];  // only where has_offsets(dtype)
};

// Q5_0 Q5_1 Q2_K Q3_K Q5_K IQ4_NL IQ4_XS MXFP4.
bool has_block_parts(DType dtype);
// Of these, Q5_1 Q2_K Q5_K.
bool has_offsets(DType dtype);

// `block`: traits(dtype).block_bytes bytes. Layouts: numeric/dequantise.h. REQUIRES:
// has_block_parts(dtype).
BlockParts block_parts(DType dtype, const uint8_t* block);

}  // namespace isobit

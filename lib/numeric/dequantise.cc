#include "numeric/dequantise.h"

#include <vector>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "numeric/block_parts.h"
#include "numeric/ieee_arithmetic.h"
#include "tensor/half.h"

namespace isobit {
namespace {

// Reads little-endian values whatever the alignment.
uint16_t u16_at(const uint8_t* p) {
  return static_cast<uint16_t>(p[0] | p[1] << 8);
}
float f16_at(const uint8_t* p) {
  return f32_from_f16(u16_at(p));
}
float e4m3_at(const uint8_t* p) {
  return f32_from_e4m3(*p);
}
float bf16_at(const uint8_t* p) {
  return f32_from_bf16(u16_at(p));
}
float f32_at(const uint8_t* p) {
  return f32_from_bits(u16_at(p) | static_cast<uint32_t>(u16_at(p + 2)) << 16);
}

void q8_0_block(const uint8_t* block, float* out) {
  const float d = f16_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

void q4_0_block(const uint8_t* block, float* out) {
  const float d = f16_at(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((block[2 + i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((block[2 + i] >> 4) - 8);
  }
}

void q4_1_block(const uint8_t* block, float* out) {
  const float d = f16_at(block), m = f16_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = std::fma(static_cast<float>(block[4 + i] & 15), d, m);
    out[i + 16] = std::fma(static_cast<float>(block[4 + i] >> 4), d, m);
  }
}

void q4_k_block(const uint8_t* block, float* out) {
  const float d = f16_at(block), dmin = f16_at(block + 2);
  const KQuantScales scales = unpack_k_scales(block + 4);
  const uint8_t* nibbles = block + 16;
  for (int group = 0; group < 8; ++group) {
    const float step = d * static_cast<float>(scales.scale[group]);
    const float offset = -(dmin * static_cast<float>(scales.minimum[group]));
    const int shift = group % 2 == 0 ? 0 : 4;
    for (int i = 0; i < 32; ++i) {
      const int q = (nibbles[32 * (group / 2) + i] >> shift) & 15;
      out[32 * group + i] = std::fma(static_cast<float>(q), step, offset);
    }
  }
}

// Elements 128h + 32k + i, k in 0..3: low nibble from byte 64h + 32 (k mod 2) + i, high pair k of
// byte 32h + i.
void q6_k_block(const uint8_t* block, float* out) {
  const uint8_t *low = block, *high = block + 128, *scales = block + 192;
  const float d = f16_at(block + 208);
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, k = e / 32 % 4, i = e % 32;
    const int nibble = (low[64 * half + 32 * (k % 2) + i] >> (k < 2 ? 0 : 4)) & 15;
    const int pair = (high[32 * half + i] >> (2 * k)) & 3;
    const float step = d * static_cast<float>(static_cast<int8_t>(scales[e / 16]));
    out[e] = step * static_cast<float>((nibble | pair << 4) - 32);
  }
}

void parts_block(DType dtype, const uint8_t* block, float* out) {
  const BlockParts parts = block_parts(dtype, block);
  const bool offsets = has_offsets(dtype);
  for (size_t e = 0; e < traits(dtype).block_elems; ++e) {
    const auto q = static_cast<float>(parts.q[e]);
    const float step = parts.step[e / 16];
    out[e] = offsets ? std::fma(q, step, parts.offset[e / 16]) : step * q;
  }
}

template <class Decode>
void each_element(const uint8_t* p, size_t bytes, int64_t n, float* out, Decode decode) {
  for (int64_t i = 0; i < n; ++i) out[i] = decode(p + static_cast<size_t>(i) * bytes);
}

template <class Decode>
void each_block(DType dtype, const uint8_t* p, int64_t n, float* out, Decode decode) {
  const auto [elems, bytes] = std::pair{traits(dtype).block_elems, traits(dtype).block_bytes};
  for (size_t block = 0; block < static_cast<size_t>(n) / elems; ++block) {
    decode(p + block * bytes, out + block * elems);
  }
}

}  // namespace

KQuantScales unpack_k_scales(const uint8_t* packed) {
  KQuantScales s;
  for (int j = 0; j < 4; ++j) {
    s.scale[j] = packed[j] & 63;
    s.minimum[j] = packed[j + 4] & 63;
    s.scale[j + 4] = static_cast<uint8_t>((packed[j + 8] & 15) | (packed[j] >> 6) << 4);
    s.minimum[j + 4] = static_cast<uint8_t>((packed[j + 8] >> 4) | (packed[j + 4] >> 6) << 4);
  }
  return s;
}

void dequantise_row(DType dtype, const std::byte* bytes, int64_t n, float* out) {
  ISOBIT_REQUIRE(engine_reads(dtype));
  ISOBIT_REQUIRE(n >= 0 && static_cast<size_t>(n) % traits(dtype).block_elems == 0);
  const auto* p = reinterpret_cast<const uint8_t*>(bytes);
  switch (dtype) {
    case DType::kF32:
      return each_element(p, 4, n, out, f32_at);
    case DType::kF16:
      return each_element(p, 2, n, out, f16_at);
    case DType::kBF16:
      return each_element(p, 2, n, out, bf16_at);
    case DType::kQ8_0:
      return each_block(dtype, p, n, out, q8_0_block);
    case DType::kQ4_0:
      return each_block(dtype, p, n, out, q4_0_block);
    case DType::kQ4_1:
      return each_block(dtype, p, n, out, q4_1_block);
    case DType::kQ4_K:
      return each_block(dtype, p, n, out, q4_k_block);
    case DType::kQ6_K:
      return each_block(dtype, p, n, out, q6_k_block);
    case DType::kF8E4M3:
      return each_element(p, 1, n, out, e4m3_at);
    default:
      break;
  }
  if (has_block_parts(dtype)) {
    return each_block(dtype, p, n, out, [dtype](const uint8_t* block, float* elems) {
      parts_block(dtype, block, elems);
    });
  }
  fail_require("a case for every dtype of engine_reads", __FILE__, __LINE__);
}

void dequantise_tensor_row(const TensorView& tensor, int64_t model_row, float* out) {
  const int64_t n = tensor.row_elems();
  dequantise_row(tensor.dtype, tensor.row(model_row), n, out);
  if (tensor.scales == nullptr) return;
  const DType dtype = tensor.scales->dtype;
  const int64_t n_scales = (n + tensor.scale_columns - 1) / tensor.scale_columns;
  const size_t offset = static_cast<size_t>(model_row / tensor.scale_rows * n_scales);
  std::vector<float> scales(static_cast<size_t>(n_scales));
  dequantise_row(dtype, tensor.scales->bytes.data() + offset * traits(dtype).block_bytes, n_scales,
                 scales.data());
  for (int64_t i = 0; i < n; ++i)
    out[i] = out[i] * scales[static_cast<size_t>(i / tensor.scale_columns)];
}

}  // namespace isobit

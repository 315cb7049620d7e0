#include "numeric/block_parts.h"

#include "base/error.h"
#include "numeric/dequantise.h"
#include "tensor/half.h"

namespace isobit {
namespace {

float f16_at(const uint8_t* p) {
  return f32_from_f16(static_cast<uint16_t>(p[0] | p[1] << 8));
}

uint32_t u32_at(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 |
         static_cast<uint32_t>(p[2]) << 16 | static_cast<uint32_t>(p[3]) << 24;
}

// The integers that a nibble of IQ4_NL and IQ4_XS stands for.
constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                   1,    13,   25,  38,  53,  69,  89,  113};
// Twice the values of the 4-bit float E2M1.
constexpr int8_t kE2M1Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Element j of 32 is the low nibble of byte j, element j + 16 the high one.
int nibble_of_32(const uint8_t* bytes, int j) {
  return j < 16 ? bytes[j] & 15 : bytes[j - 16] >> 4;
}

void q5_parts(const uint8_t* high_bits, const uint8_t* nibbles, int zero, BlockParts& out) {
  const uint32_t high = u32_at(high_bits);
  for (int j = 0; j < 32; ++j) {
    const int q = nibble_of_32(nibbles, j) | static_cast<int>(high >> j & 1u) << 4;
    out.q[j] = static_cast<int8_t>(q - zero);
  }
}

void set_groups(float* of_group, int n, float value) {
  for (int g = 0; g < n; ++g) of_group[g] = value;
}

void q5_0(const uint8_t* block, BlockParts& out) {
  q5_parts(block + 2, block + 6, 16, out);
  set_groups(out.step, 2, f16_at(block));
}

void q5_1(const uint8_t* block, BlockParts& out) {
  q5_parts(block + 4, block + 8, 0, out);
  set_groups(out.step, 2, f16_at(block));
  set_groups(out.offset, 2, f16_at(block + 2));
}

// Element 128h + 32k + i of 256: bits 2k, 2k + 1 of byte 32h + i.
int pair_of_256(const uint8_t* bytes, int e) {
  return bytes[32 * (e / 128) + e % 32] >> (e / 32 % 4 * 2) & 3;
}

void q2_k(const uint8_t* block, BlockParts& out) {
  const float d = f16_at(block + 80), dmin = f16_at(block + 82);
  for (int g = 0; g < 16; ++g) {
    out.step[g] = d * static_cast<float>(block[g] & 15);
    out.offset[g] = -(dmin * static_cast<float>(block[g] >> 4));
  }
  for (int e = 0; e < 256; ++e) out.q[e] = static_cast<int8_t>(pair_of_256(block + 16, e));
}

// 16 scales of 6 bits in 12 bytes: low nibbles in bytes 0..7, then their high pairs in bytes 8..11.
int q3_k_scale(const uint8_t* packed, int g) {
  const int low = g < 8 ? packed[g] & 15 : packed[g - 8] >> 4;
  return (low | (packed[8 + g % 4] >> (g / 4 * 2) & 3) << 4) - 32;
}

void q3_k(const uint8_t* block, BlockParts& out) {
  const float d = f16_at(block + 108);
  for (int g = 0; g < 16; ++g) out.step[g] = d * static_cast<float>(q3_k_scale(block + 96, g));
  for (int e = 0; e < 256; ++e) {
    const int high = block[e % 32] >> (e / 32) & 1;
    out.q[e] = static_cast<int8_t>(pair_of_256(block + 32, e) - (high ? 0 : 4));
  }
}

// Element 64g + i, i < 32: low nibble of byte 32g + i; element 64g + 32 + i: its high nibble. The
// fifth bit is bit e / 32 of byte i.
void q5_k(const uint8_t* block, BlockParts& out) {
  const float d = f16_at(block), dmin = f16_at(block + 2);
  const KQuantScales scales = unpack_k_scales(block + 4);
  for (int g = 0; g < 16; ++g) {
    out.step[g] = d * static_cast<float>(scales.scale[g / 2]);
    out.offset[g] = -(dmin * static_cast<float>(scales.minimum[g / 2]));
  }
  const uint8_t *high = block + 16, *nibbles = block + 48;
  for (int e = 0; e < 256; ++e) {
    const int low = nibbles[32 * (e / 64) + e % 32] >> (e / 32 % 2 * 4) & 15;
    out.q[e] = static_cast<int8_t>(low | (high[e % 32] >> (e / 32) & 1) << 4);
  }
}

void iq4_nl(const uint8_t* block, BlockParts& out) {
  set_groups(out.step, 2, f16_at(block));
  for (int j = 0; j < 32; ++j) out.q[j] = kIq4Values[nibble_of_32(block + 2, j)];
}

void iq4_xs(const uint8_t* block, BlockParts& out) {
  const float d = f16_at(block);
  const int high = block[2] | block[3] << 8;
  for (int g = 0; g < 8; ++g) {
    const int low = block[4 + g / 2] >> (g % 2 * 4) & 15;
    const int scale = (low | (high >> (2 * g) & 3) << 4) - 32;
    set_groups(out.step + 2 * g, 2, d * static_cast<float>(scale));
    for (int j = 0; j < 32; ++j)
      out.q[32 * g + j] = kIq4Values[nibble_of_32(block + 8 + 16 * g, j)];
  }
}

// 2^(e - 128): half of the shared exponent, because the integers are twice the values.
float half_of_e8m0(uint8_t e) {
  return f32_from_bits(e < 2 ? 0x00200000u << e : static_cast<uint32_t>(e - 1) << 23);
}

void mxfp4(const uint8_t* block, BlockParts& out) {
  set_groups(out.step, 2, half_of_e8m0(block[0]));
  for (int j = 0; j < 32; ++j) out.q[j] = kE2M1Values[nibble_of_32(block + 1, j)];
}

using Decode = void (*)(const uint8_t* block, BlockParts& out);

Decode decode_of(DType dtype) {
  switch (dtype) {
    case DType::kQ5_0:
      return q5_0;
    case DType::kQ5_1:
      return q5_1;
    case DType::kQ2_K:
      return q2_k;
    case DType::kQ3_K:
      return q3_k;
    case DType::kQ5_K:
      return q5_k;
    case DType::kIQ4_NL:
      return iq4_nl;
    case DType::kIQ4_XS:
      return iq4_xs;
    case DType::kMXFP4:
      return mxfp4;
    default:
      return nullptr;
  }
}

}  // namespace

bool has_block_parts(DType dtype) {
  return decode_of(dtype) != nullptr;
}

bool has_offsets(DType dtype) {
  return dtype == DType::kQ5_1 || dtype == DType::kQ2_K || dtype == DType::kQ5_K;
}

BlockParts block_parts(DType dtype, const uint8_t* block) {
  const Decode decode = decode_of(dtype);
  ISOBIT_REQUIRE(decode != nullptr);
  BlockParts out;
  decode(block, out);
  return out;
}

}  // namespace isobit

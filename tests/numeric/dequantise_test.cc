// Block formats: vectors computed with an independent decoder, all exact in f32.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "numeric/dequantise.h"
#include "tensor/half.h"

namespace isobit {
namespace {

using Bytes = std::vector<std::byte>;

int nibble(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(nibble(text[i]) * 16 + nibble(text[i + 1])));
  }
  return bytes;
}

void append_f16(Bytes& bytes, float v) {
  const uint16_t h = f16_from_f32(v);
  bytes.push_back(static_cast<std::byte>(h & 255));
  bytes.push_back(static_cast<std::byte>(h >> 8));
}

std::vector<float> decode(DType dtype, const Bytes& bytes, int64_t n) {
  // One byte off alignment, as a mapped checkpoint may be.
  Bytes shifted(bytes.size() + 1);
  std::memcpy(shifted.data() + 1, bytes.data(), bytes.size());
  std::vector<float> out(static_cast<size_t>(n));
  dequantise_row(dtype, shifted.data() + 1, n, out.data());
  return out;
}

TEST_CASE("Q4_0") {
  const auto y = decode(DType::kQ4_0, from_hex("003800112233445566778899aabbccddeeff"), 32);
  CHECK(std::vector<float>{y[0], y[1], y[2], y[15], y[16], y[31]} ==
        std::vector<float>{-4, -3.5f, -3, 3.5f, -4, 3.5f});
}

TEST_CASE("Q4_1") {
  const auto y = decode(DType::kQ4_1, from_hex("003400bc0f1e2d3c4b5a69788796a5b4c3d2e1f0"), 32);
  CHECK(std::vector<float>{y[0], y[15], y[16], y[31]} == std::vector<float>{2.75f, -1, -1, 2.75f});
}

TEST_CASE("Q4_1 rounds once: fma, not a product and a sum") {
  Bytes block;
  append_f16(block, 0x1.ffcp-1f);
  append_f16(block, 0x1.004p-14f);
  block.resize(20, std::byte{0xFF});
  const auto y = decode(DType::kQ4_1, block, 32);
  CHECK(y[0] == std::fma(15.0f, 0x1.ffcp-1f, 0x1.004p-14f));
}

TEST_CASE("Q8_0") {
  Bytes block = from_hex("0030");
  for (int i = 0; i < 32; ++i) block.push_back(static_cast<std::byte>((8 * i - 128) & 255));
  const auto y = decode(DType::kQ8_0, block, 32);
  CHECK(std::vector<float>{y[0], y[1], y[31]} == std::vector<float>{-16, -15, 15});
}

TEST_CASE("Q4_K") {
  Bytes block;
  append_f16(block, 0.5f);
  append_f16(block, 0.25f);
  const Bytes scales = from_hex("c14283044586c70821436587");
  for (const std::byte b : scales) block.push_back(b);
  for (int i = 0; i < 128; ++i) block.push_back(static_cast<std::byte>((7 * i + 3) & 255));
  const KQuantScales s = unpack_k_scales(reinterpret_cast<const uint8_t*>(scales.data()));
  CHECK(std::vector<int>(s.scale, s.scale + 8) == std::vector<int>{1, 2, 3, 4, 49, 19, 37, 7});
  CHECK(std::vector<int>(s.minimum, s.minimum + 8) == std::vector<int>{5, 6, 7, 8, 18, 36, 54, 8});
  const auto y = decode(DType::kQ4_K, block, 256);
  CHECK(std::vector<float>{y[0], y[1], y[31], y[32], y[63], y[64], y[128], y[160], y[192], y[224],
                           y[255]} ==
        std::vector<float>{.25f, 3.75f, 4.75f, -1.5f, 11.5f, 2.75f, 69, 105, 42, 33, 22.5f});
  CHECK(std::accumulate(y.begin(), y.end(), 0.0) == 13288.0);
}

TEST_CASE("Q6_K") {
  Bytes block;
  for (int i = 0; i < 128; ++i) block.push_back(static_cast<std::byte>((5 * i + 1) & 255));
  for (int i = 0; i < 64; ++i) block.push_back(static_cast<std::byte>((11 * i + 2) & 255));
  for (int i = 0; i < 16; ++i) block.push_back(static_cast<std::byte>((9 * i - 60) & 255));
  append_f16(block, 0.0625f);
  const auto y = decode(DType::kQ6_K, block, 256);
  CHECK(std::vector<float>{y[0], y[15], y[16], y[31], y[32], y[64], y[96], y[127], y[128], y[200],
                           y[255]} == std::vector<float>{-3.75f, -105, -3.1875f, -89.25f, 81.375f,
                                                         48, 8.25f, -2.4375f, .75f, 66, 32.8125f});
  CHECK(std::accumulate(y.begin(), y.end(), 0.0) == 230.25);
}

struct BlockVector {
  DType dtype;
  std::vector<std::pair<size_t, uint16_t>> halves;  // at a byte of the block
  std::vector<std::pair<size_t, float>> elements;
  double sum;  // of all elements, exact
};

// Byte i of a block is 37 i + 11, except for its halves and MXFP4's exponent, 125.
Bytes vector_block(const BlockVector& v) {
  Bytes block;
  for (size_t i = 0; i < traits(v.dtype).block_bytes; ++i)
    block.push_back(static_cast<std::byte>(37 * i + 11));
  if (v.dtype == DType::kMXFP4) block[0] = static_cast<std::byte>(125);
  for (const auto& [at, half] : v.halves) {
    block[at] = static_cast<std::byte>(half & 255);
    block[at + 1] = static_cast<std::byte>(half >> 8);
  }
  return block;
}

TEST_CASE("Q5, Q2_K, Q3_K, IQ4 and MXFP4: what the gguf package of Python 0.19 decodes") {
  const BlockVector vectors[] = {
      {DType::kQ5_0,
       {{0, 0x3400}},
       {{0, 2.25}, {1, -0.5}, {15, -3.0}, {16, 3.5}, {31, 0.25}},
       3.75},
      {DType::kQ5_1,
       {{0, 0x3400}, {2, 0xBC00}},
       {{0, 3.75}, {1, 5.0}, {15, 6.5}, {16, 3.75}, {31, 0.25}},
       94.25},
      {DType::kQ2_K,
       {{80, 0x3800}, {82, 0x3400}},
       {{0, 16.5},
        {1, 0.0},
        {15, 11.0},
        {16, -0.75},
        {31, -0.75},
        {32, 3.75},
        {63, 3.25},
        {64, 5.25},
        {127, 21.0},
        {128, 3.75},
        {200, 4.0},
        {255, 2.25}},
       1029.5},
      {DType::kQ3_K,
       {{108, 0x3400}},
       {{0, 20.25},
        {1, -27.0},
        {15, -13.5},
        {16, -24.0},
        {31, 16.0},
        {32, -5.5},
        {63, 2.5},
        {64, 8.5},
        {127, 18.0},
        {128, 0.5},
        {200, 6.25},
        {255, 10.5}},
       239.5},
      {DType::kQ5_K,
       {{0, 0x3800}, {2, 0x3400}},
       {{0, 405.75},
        {1, -12.75},
        {15, 80.25},
        {16, 405.75},
        {31, 80.25},
        {32, 56.0},
        {63, 40.0},
        {64, 210.25},
        {127, -1.5},
        {128, 523.5},
        {200, 69.25},
        {255, 54.25}},
       58108.0},
      {DType::kIQ4_NL,
       {{0, 0x3000}},
       {{0, -4.375}, {1, 3.125}, {15, -15.875}, {16, -4.375}, {31, 0.125}},
       -32.125},
      {DType::kIQ4_XS,
       {{0, 0x2C00}},
       {{0, 4.0625},
        {1, -0.0625},
        {15, -5.5625},
        {16, 4.0625},
        {31, 2.1875},
        {32, 28.4375},
        {63, -10.9375},
        {64, 48.75},
        {127, 12.25},
        {128, -36.5625},
        {200, 71.25},
        {255, -1.0}},
       -687.8125},
      {DType::kMXFP4, {}, {{0, 0.0}, {1, 0.75}, {15, -0.375}, {16, 0.375}, {31, 0.75}}, 3.125},
  };
  for (const BlockVector& v : vectors) {
    CAPTURE(name(v.dtype));
    const auto y =
        decode(v.dtype, vector_block(v), static_cast<int64_t>(traits(v.dtype).block_elems));
    for (const auto& [index, value] : v.elements) {
      CAPTURE(index);
      CHECK(y[index] == value);
    }
    CHECK(std::accumulate(y.begin(), y.end(), 0.0) == v.sum);
  }
}

TEST_CASE("MXFP4: the smallest exponents are subnormal steps") {
  Bytes block(17, static_cast<std::byte>(0x21));  // 1 and 2, halves of them
  for (int e = 0; e < 4; ++e) {
    block[0] = static_cast<std::byte>(e);
    const auto y = decode(DType::kMXFP4, block, 32);
    CHECK(y[0] == std::ldexp(1.0f, e - 128));
    CHECK(y[31] == std::ldexp(2.0f, e - 128));
  }
}

TEST_CASE("plain types are exact, subnormals and negative zero included") {
  Bytes f32;
  for (const float v : {1.5f, -0.0f, 0x1p-149f}) {
    const auto bits = std::bit_cast<uint32_t>(v);
    for (int shift = 0; shift < 32; shift += 8) {
      f32.push_back(static_cast<std::byte>(bits >> shift));
    }
  }
  const auto y = decode(DType::kF32, f32, 3);
  CHECK(y[0] == 1.5f);
  CHECK(std::signbit(y[1]));
  CHECK(y[2] == 0x1p-149f);
  CHECK(decode(DType::kF16, from_hex("01000040"), 2) == std::vector<float>{0x1p-24f, 2.0f});
  CHECK(decode(DType::kBF16, from_hex("0100c0bf"), 2) == std::vector<float>{0x1p-133f, -1.5f});
}

TEST_CASE("a partial block or a type outside the engine's is refused") {
  Bytes block(34);
  std::vector<float> out(32);
  CHECK_THROWS(dequantise_row(DType::kQ8_0, block.data(), 31, out.data()));
  CHECK_THROWS(dequantise_row(DType::kI8, block.data(), 32, out.data()));
}

}  // namespace
}  // namespace isobit

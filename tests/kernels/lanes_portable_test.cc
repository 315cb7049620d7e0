// The portable lanes' fma made of binary64 operations is std::fma in bits, wherever rounding,
// subnormals, overflow, cancellation and signs of zero could make it differ.
#include "kernels/cpu/lanes_portable.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace isobit {
namespace {

float from(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

void check(float a, float b, float c) {
  const float expected = std::fma(a, b, c), found = fma_without_instruction(a, b, c);
  if (std::isnan(expected) && std::isnan(found)) return;
  if (std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(found)) return;
  char text[200];
  std::snprintf(text, sizeof(text), "fma(%a, %a, %a) = %a, found %a", static_cast<double>(a),
                static_cast<double>(b), static_cast<double>(c), static_cast<double>(expected),
                static_cast<double>(found));
  FAIL_CHECK(std::string(text));
}

void check_signs(float a, float b, float c) {
  check(a, b, c);
  check(-a, b, c);
  check(a, b, -c);
  check(-a, b, -c);
}

constexpr uint32_t kSeed = 20261129;

TEST_CASE("every triple of special values") {
  std::vector<float> values;
  for (const uint32_t bits :
       {0x00000000u, 0x00000001u, 0x00000002u, 0x00000003u, 0x00400000u, 0x007FFFFFu, 0x00800000u,
        0x00800001u, 0x00FFFFFFu, 0x0B000000u, 0x1F800000u, 0x1F800001u, 0x20000000u, 0x33800000u,
        0x33800001u, 0x34000000u, 0x3F000000u, 0x3F7FFFFFu, 0x3F800000u, 0x3F800001u, 0x3F800002u,
        0x3FFFFFFFu, 0x40000000u, 0x4B800000u, 0x4B800001u, 0x5F000000u, 0x5F7FFFFFu, 0x5F800000u,
        0x7E800000u, 0x7F000000u, 0x7F7FFFFEu, 0x7F7FFFFFu, 0x7F800000u, 0x7FC00000u}) {
    values.push_back(from(bits));
    values.push_back(from(bits | 0x80000000u));
  }
  for (const float a : values) {
    for (const float b : values) {
      for (const float c : values) check(a, b, c);
    }
  }
}

TEST_CASE("random bits, and addends of about the product's size") {
  INFO("seed ", kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 2'000'000; ++i) {
    const uint32_t a = random(), b = random(), c = random();
    check(from(a), from(b), from(c));
    const uint32_t exponent = ((a >> 23 & 0xFF) + (b >> 23 & 0xFF) - 127 + random() % 60 - 30);
    check(from(a), from(b), from((c & 0x807FFFFFu) | (exponent & 0xFF) << 23));
  }
}

TEST_CASE("products half-way between two results, with the least that can break the tie") {
  INFO("seed ", kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 500'000; ++i) {
    // An odd product of 25 bits is a tie in the normal range; scaled to an odd multiple of 2^-150
    // it is one among the subnormals.
    const uint32_t u = (random() & 0xFFF) | 0x801, v = (random() & 0x1FFF) | 0x1001;
    const int scale = static_cast<int>(random() % 340) - 170;
    const float a = std::ldexp(static_cast<float>(u), scale / 2);
    const float b = std::ldexp(static_cast<float>(v), scale - scale / 2);
    for (const float c : {0.0f, 0x1p-149f, std::ldexp(1.0f, scale - 30), std::ldexp(1.0f, scale)})
      check_signs(a, b, c);
  }
}

TEST_CASE("sums that cancel to the last bits of the product") {
  INFO("seed ", kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 500'000; ++i) {
    const float a = from((random() & 0x007FFFFF) | 0x3F800000);
    const float b = std::ldexp(from((random() & 0x007FFFFF) | 0x3F800000),
                               static_cast<int>(random() % 200) - 140);
    const float rounded = a * b;
    for (const int step : {-1, 0, 1})
      check_signs(a, b, -from(std::bit_cast<uint32_t>(rounded) + static_cast<uint32_t>(step)));
  }
}

TEST_CASE("around the largest finite value") {
  constexpr float kMax = std::numeric_limits<float>::max();
  INFO("seed ", kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 200'000; ++i) {
    const float a = from((random() & 0x007FFFFF) | 0x5F000000);  // 2^63 ... 2^64
    const float b = kMax / a;
    const float c = std::ldexp(from((random() & 0x007FFFFF) | 0x3F800000),
                               70 + static_cast<int>(random() % 50));
    check_signs(a, b, c);
    check_signs(a, from(std::bit_cast<uint32_t>(b) + 1), c);
  }
  check_signs(1.0f, kMax, 0x1p103f);  // the tie to infinity
  check_signs(1.0f, kMax, from(std::bit_cast<uint32_t>(0x1p103f) - 1));
}

}  // namespace
}  // namespace isobit

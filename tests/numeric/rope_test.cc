// The rope table holds the nearest f32, whichever of its two evaluations made the entry.
#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <vector>

#include "numeric/double_double.h"
#include "numeric/rope.h"

namespace isobit {
namespace {

uint32_t bits_of(float x) {
  return std::bit_cast<uint32_t>(x);
}

void check_entry(double angle) {
  const SinCos fast = nearest_sin_cos(angle), slow = nearest_sin_cos_by_double_double(angle);
  CAPTURE(angle);
  REQUIRE(bits_of(fast.sin) == bits_of(slow.sin));
  REQUIRE(bits_of(fast.cos) == bits_of(slow.cos));
  // The oracle errs by far less than this where it is not straddling a boundary itself.
  const long double sine_truth = sinl(static_cast<long double>(angle));
  const long double cosine_truth = cosl(static_cast<long double>(angle));
  const auto half_ulp = [](long double v) {
    int exponent = 0;
    std::frexp(static_cast<double>(v), &exponent);
    return std::ldexp(1.0L, exponent - 25) * 1.0000001L;
  };
  REQUIRE(std::fabs(static_cast<long double>(fast.sin) - sine_truth) <= half_ulp(sine_truth));
  REQUIRE(std::fabs(static_cast<long double>(fast.cos) - cosine_truth) <= half_ulp(cosine_truth));
}

TEST_CASE("entries are nearest over positions and frequencies") {
  for (const double theta : {10000.0, 100000.0, 500000.0, 1e6}) {
    const std::vector<float> inverse = rope_inverse_frequencies({.theta = theta}, 64);
    for (int64_t position = 0; position < 200000; position = position * 5 / 4 + 1) {
      for (const float f : inverse) {
        check_entry(static_cast<double>(position) * static_cast<double>(f));
      }
    }
  }
}

TEST_CASE("entries are nearest next to multiples of a quarter turn") {
  for (int k = 1; k < 100; ++k) {
    auto angle = static_cast<double>(static_cast<float>(k * 1.5707963267948966));
    for (int step = 0; step < 3; ++step) {
      check_entry(angle);
      check_entry(-angle);
      angle = std::nextafter(angle, 1e9);
    }
  }
}

TEST_CASE("an angle of zero is exact") {
  CHECK(bits_of(nearest_sin_cos(0).sin) == 0);
  CHECK(bits_of(nearest_sin_cos(0).cos) == bits_of(1.0f));
}

// sin is nearly linear close to 0: at 3 * 2^-25 * (1 + 2^-23) style midpoints the sine lies just
// below a tie that the angle itself sits on, closer than binary64 can tell.
TEST_CASE("an entry within a hair of a rounding boundary is decided by the longer evaluation") {
  const double tie = static_cast<double>(0x1.000002p-20f) + 0x1p-44;  // halfway between two f32
  REQUIRE(static_cast<float>(tie) == 0x1.000004p-20f);                // ties to even: upwards
  const SinCos entry = nearest_sin_cos(tie);
  CHECK(entry.sin == 0x1.000002p-20f);  // the sine is less than the angle by angle^3 / 6
}

TEST_CASE("inverse frequencies: plain and with factors") {
  const std::vector<float> inverse = rope_inverse_frequencies({}, 8);
  CHECK(inverse == std::vector<float>{1.0f, 0.1f, 0.01f, 0.001f});
  const RopeConfig with_factors{.divisors = {1.0f, 2.0f, 4.0f, 3.0f}};
  const std::vector<float> scaled = rope_inverse_frequencies(with_factors, 8);
  CHECK(scaled[1] == static_cast<float>(0.1 / 2));
  CHECK(scaled[3] == static_cast<float>(0.001 / 3));
  CHECK_THROWS(rope_inverse_frequencies({.divisors = {1.0f}}, 8));
  CHECK_THROWS(rope_inverse_frequencies({}, 7));
}

// Expected values: transformers' formulas in Python's binary64, rounded to f32.
TEST_CASE("inverse frequencies: linear, llama3, yarn and longrope") {
  CHECK(rope_inverse_frequencies({.kind = RopeKind::kLinear, .factor = 8}, 4) ==
        std::vector<float>{0.125f, static_cast<float>(0.01 / 8)});
  const RopeConfig llama3{
      .kind = RopeKind::kLlama3, .theta = 500000, .factor = 8, .original_positions = 8192};
  CHECK(rope_inverse_frequencies(llama3, 16) ==
        std::vector<float>{0x1.0000000000000p+0f, 0x1.8d275e0000000p-3f, 0x1.3411900000000p-5f,
                           0x1.ddee9c0000000p-8f, 0x1.132ba80000000p-11f, 0x1.1f91f00000000p-15f,
                           0x1.be21880000000p-18f, 0x1.5a0f4e0000000p-20f});
  RopeConfig yarn{.kind = RopeKind::kYarn, .theta = 1e6, .factor = 4, .original_positions = 32768};
  CHECK(rope_inverse_frequencies(yarn, 16) ==
        std::vector<float>{0x1.0000000000000p+0f, 0x1.6c310e0000000p-3f, 0x1.030dc40000000p-5f,
                           0x1.1466ea0000000p-8f, 0x1.0624de0000000p-11f, 0x1.74eea60000000p-15f,
                           0x1.0945660000000p-17f, 0x1.7961820000000p-20f});
  CHECK(rope_attention_factor(yarn) == doctest::Approx(1.138629436111989).epsilon(1e-15));
  yarn.mscale = 0.707, yarn.mscale_all_dim = 1;
  CHECK(rope_attention_factor(yarn) == doctest::Approx(0.964326914892074).epsilon(1e-15));
  const RopeConfig whole{
      .kind = RopeKind::kYarn, .factor = 2.5, .original_positions = 4096, .truncate = false};
  CHECK(rope_inverse_frequencies(whole, 16) ==
        std::vector<float>{0x1.0000000000000p+0f, 0x1.43d1360000000p-2f, 0x1.99999a0000000p-4f,
                           0x1.deaa720000000p-6f, 0x1.dad89e0000000p-8f, 0x1.b369380000000p-10f,
                           0x1.a36e2e0000000p-12f, 0x1.0945660000000p-13f});
  RopeConfig longrope{.kind = RopeKind::kLongrope,
                      .factor = 32,
                      .original_positions = 4096,
                      .long_or_short = {1.05, 2.5}};
  CHECK(rope_inverse_frequencies(longrope, 4) ==
        std::vector<float>{static_cast<float>(1 / 1.05), static_cast<float>(1 / (2.5 * 100.0))});
  CHECK(rope_attention_factor(longrope) == doctest::Approx(1.1902380714238083).epsilon(1e-15));
  longrope.attention_factor = 1.25;
  CHECK(rope_attention_factor(longrope) == 1.25);
  CHECK(rope_attention_factor({}) == 1);
}

TEST_CASE("an attention factor is part of the nearest entry") {
  const std::vector<float> inverse = rope_inverse_frequencies({}, 64);
  for (int64_t position = 0; position < 20000; position = position * 5 / 4 + 1) {
    for (const float f : inverse) {
      const double angle = static_cast<double>(position) * static_cast<double>(f);
      const SinCos fast = nearest_sin_cos(angle, 1.1902380714238083),
                   slow = nearest_sin_cos_by_double_double(angle, 1.1902380714238083);
      CHECK(bits_of(fast.sin) == bits_of(slow.sin));
      CHECK(bits_of(fast.cos) == bits_of(slow.cos));
      const long double truth = 1.1902380714238083 * std::sin(static_cast<long double>(angle));
      const long double ulp = std::ldexp(1.0L, std::ilogb(truth) - 23);
      CHECK(std::fabs(static_cast<long double>(fast.sin) - truth) <= ulp * 0.5001L);
    }
  }
}

TEST_CASE("inverse frequencies agree with binary64 pow wherever pow is unambiguous") {
  for (const double theta : {10000.0, 100000.0, 500000.0, 1e6, 8e6}) {
    for (const int64_t dim : {64, 80, 96, 128, 256}) {
      const std::vector<float> inverse = rope_inverse_frequencies({.theta = theta}, dim);
      for (size_t i = 0; i < inverse.size(); ++i) {
        const double exact =
            std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
        CHECK(std::fabs(inverse[i] - exact) <= exact * 0x1.00001p-24);
      }
    }
  }
}

TEST_CASE("double-double: power, sine and cosine to far more than binary64") {
  const DoubleDouble root = power(2.0, 0.5), back = root * root;
  CHECK(back.hi == 2.0);
  CHECK(std::fabs(back.lo) < 0x1p-94);
  const DoubleDouble r{0.7, 1e-17}, s = sine(r), c = cosine(r);
  const DoubleDouble one = s * s + c * c;
  CHECK(one.hi == 1.0);
  CHECK(std::fabs(one.lo) < 0x1p-97);
}

TEST_CASE("the table is row-major by position and quick to make") {
  const std::vector<float> inverse = rope_inverse_frequencies({.theta = 100000}, 64);
  const auto start = std::chrono::steady_clock::now();
  const RopeTable table = make_rope_table(inverse, 8192);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  MESSAGE("8192 x 32 entries in " << elapsed.count() << " ms");
  REQUIRE(table.half_dim == 32);
  REQUIRE(table.cos.size() == 8192u * 32);
  const SinCos entry = nearest_sin_cos(5000.0 * static_cast<double>(inverse[7]));
  CHECK(bits_of(table.cos[5000 * 32 + 7]) == bits_of(entry.cos));
  CHECK(bits_of(table.sin[5000 * 32 + 7]) == bits_of(entry.sin));
}

}  // namespace
}  // namespace isobit

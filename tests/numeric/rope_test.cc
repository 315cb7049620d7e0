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
    const std::vector<float> inverse = rope_inverse_frequencies(theta, 64);
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
  const std::vector<float> inverse = rope_inverse_frequencies(10000.0, 8);
  CHECK(inverse == std::vector<float>{1.0f, 0.1f, 0.01f, 0.001f});
  const std::vector<float> factors = {1.0f, 2.0f, 4.0f, 3.0f};
  const std::vector<float> scaled = rope_inverse_frequencies(10000.0, 8, factors);
  CHECK(scaled[1] == static_cast<float>(0.1 / 2));
  CHECK(scaled[3] == static_cast<float>(0.001 / 3));
  CHECK_THROWS(rope_inverse_frequencies(10000.0, 8, std::vector<float>{1.0f}));
  CHECK_THROWS(rope_inverse_frequencies(10000.0, 7));
}

TEST_CASE("inverse frequencies agree with binary64 pow wherever pow is unambiguous") {
  for (const double theta : {10000.0, 100000.0, 500000.0, 1e6, 8e6}) {
    for (const int64_t dim : {64, 80, 96, 128, 256}) {
      const std::vector<float> inverse = rope_inverse_frequencies(theta, dim);
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
  const std::vector<float> inverse = rope_inverse_frequencies(100000.0, 64);
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

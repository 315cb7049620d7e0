// Philox4x32-10 against the known answers published with Random123, and the noise made of it.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "numeric/philox.h"

namespace isobit {
namespace {

TEST_CASE("known answers") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t kOnes = 0xFFFFFFFF;
  CHECK(philox4x32_10({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a token's word is word id mod 4 of block id / 4") {
  const PhiloxCounter words = philox4x32_10({7, 25, 2, 0}, {0x89ABCDEF, 0x01234567});
  for (uint32_t word = 0; word < 4; ++word) {
    CHECK(gumbel_noise(0x0123456789ABCDEF, 7, 100 + word, 2) == gumbel_from_word(words[word]));
  }
}

TEST_CASE("each coordinate of a draw changes it") {
  const float noise = gumbel_noise(1, 2, 3, 0);
  CHECK(noise != gumbel_noise(2, 2, 3, 0));
  CHECK(noise != gumbel_noise(uint64_t{1} << 32 | 1, 2, 3, 0));
  CHECK(noise != gumbel_noise(1, 3, 3, 0));
  CHECK(noise != gumbel_noise(1, 2, 4, 0));
  CHECK(noise != gumbel_noise(1, 2, 3, 1));
}

TEST_CASE("the extreme words give finite noise") {
  CHECK(gumbel_from_word(0) == doctest::Approx(-std::log(-std::log(0x1p-24))).epsilon(1e-6));
  CHECK(gumbel_from_word(0xFFFFFFFF) ==
        doctest::Approx(-std::log(-std::log1p(-0x1p-24))).epsilon(1e-6));
}

TEST_CASE("the noise has the mean and the variance of Gumbel's distribution") {
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (uint32_t id = 0; id < kDraws; ++id) {
    const double g = gumbel_noise(42, 5, id, 0);
    sum += g;
    squares += g * g;
  }
  const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
  CHECK(mean == doctest::Approx(0.5772157).epsilon(0.02));
  CHECK(variance == doctest::Approx(1.6449341).epsilon(0.02));
}

}  // namespace
}  // namespace isobit

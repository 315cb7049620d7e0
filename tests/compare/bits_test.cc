#include "compare/bits.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace isobit;

TEST_CASE("the ulp distance is 0 for the same bits and for nothing else") {
  CHECK(ulp_distance(-1.5f, -1.5f) == 0u);
  CHECK(ulp_distance(0.0f, -0.0f) == 1u);
  CHECK(ulp_distance(1.0f, std::nextafterf(1.0f, 2.0f)) == 1u);
  CHECK(ulp_distance(-1.0f, std::nextafterf(-1.0f, -2.0f)) == 1u);
}

TEST_CASE("the ulp distance counts representable steps across zero and binades") {
  const float smallest = std::numeric_limits<float>::denorm_min();
  CHECK(ulp_distance(smallest, -smallest) == 3u);  // +min, +0, -0, -min
  CHECK(ulp_distance(1.0f, 2.0f) == 1u << 23);
  CHECK(ulp_distance(std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()) ==
        1u);
  CHECK(ulp_distance(-std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::infinity()) == 0xFF000001u);
}

TEST_CASE("a NaN has no distance, and infinities none in nats") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK_FALSE(ulp_distance(nan, 1.0f));
  CHECK_FALSE(ulp_distance(1.0f, nan));
  CHECK_FALSE(distance_nats(nan, 1.0f));
  CHECK_FALSE(distance_nats(-infinity, -infinity));
  CHECK(distance_nats(-0.25f, -0.75f) == 0.5);
}

TEST_CASE("bits are printed as eight hexadecimal digits") {
  CHECK(bits_text(-0.5f) == "0xbf000000");
  CHECK(bits_text(0.0f) == "0x00000000");
}

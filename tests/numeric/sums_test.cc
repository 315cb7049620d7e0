// Orders of addition: each shape of sum against an independent spelling of its definition, on terms
// where a different order gives different bits.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "numeric/sums.h"

namespace isobit {
namespace {

// Values of widely differing magnitude and sign, so that almost any reordering shows.
std::vector<float> rough_values(size_t n, uint32_t seed) {
  std::vector<float> values(n);
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    const float magnitude = std::ldexp(1.0f, static_cast<int>(state >> 28) - 8);
    v = (static_cast<float>(state >> 8 & 0xFFFF) / 32768.0f - 1.0f) * magnitude;
  }
  return values;
}

uint32_t bits_of(float x) {
  return std::bit_cast<uint32_t>(x);
}

std::string bracket(size_t first, size_t n) {
  if (n == 1) return std::to_string(first);
  const size_t p = std::bit_floor(n - 1);
  return "(" + bracket(first, p) + "+" + bracket(first + p, n - p) + ")";
}

TEST_CASE("the balanced rule brackets as the contract says") {
  for (size_t n = 1; n <= 70; ++n) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < n; ++i) parts.push_back(std::to_string(i));
    const auto combine = [](const std::string& a, const std::string& b) {
      return "(" + a + "+" + b + ")";
    };
    CHECK(balanced(std::span<const std::string>(parts), combine) == bracket(0, n));
  }
  CHECK(bracket(0, 6) == "(((0+1)+(2+3))+(4+5))");
  CHECK(bracket(0, 3) == "((0+1)+2)");
}

TEST_CASE("the binary counter computes the balanced rule, part by part") {
  for (size_t n = 1; n <= 300; ++n) {
    const std::vector<float> parts = rough_values(n, static_cast<uint32_t>(n));
    BalancedCounter counter;
    for (const float part : parts) counter.add(part);
    CHECK(bits_of(counter.sum()) == bits_of(balanced_sum(parts)));
  }
}

TEST_CASE("a sum of negative zeros: chains start at +0, parts are combined as they are") {
  BalancedCounter counter;
  counter.add(-0.0f);
  counter.add(-0.0f);
  CHECK(bits_of(counter.sum()) == 0x80000000u);
  const float x[1] = {-0.0f}, w[1] = {1.0f};
  CHECK(bits_of(tree_dot(x, w, 1)) == 0);  // fma(-0, 1, +0) = +0
}

TEST_CASE("tree: leaves of 128, the last one shorter") {
  for (const size_t n : {1u, 127u, 128u, 129u, 255u, 256u, 257u, 384u, 576u, 1000u}) {
    const std::vector<float> x = rough_values(n, 1), w = rough_values(n, 2);
    std::vector<float> leaves;
    for (size_t first = 0; first < n; first += 128) {
      float chain = 0;
      for (size_t k = first; k < std::min(n, first + 128); ++k) chain = std::fma(x[k], w[k], chain);
      leaves.push_back(chain);
    }
    CHECK(bits_of(tree_dot(x.data(), w.data(), static_cast<int64_t>(n))) ==
          bits_of(balanced_sum(leaves)));
  }
}

TEST_CASE("segments cut leaves from their own first term") {
  const std::vector<float> x = rough_values(576, 3), w = rough_values(576, 4);
  const float a = tree_dot(x.data(), w.data(), 192),
              b = tree_dot(x.data() + 192, w.data() + 192, 192),
              c = tree_dot(x.data() + 384, w.data() + 384, 192);
  CHECK(bits_of(segments_dot(x.data(), w.data(), 576, 3)) == bits_of((a + b) + c));
  CHECK(bits_of(segments_dot(x.data(), w.data(), 576, 1)) ==
        bits_of(tree_dot(x.data(), w.data(), 576)));
  CHECK(bits_of(segments_dot(x.data(), w.data(), 576, 3)) !=
        bits_of(tree_dot(x.data(), w.data(), 576)));
  CHECK_THROWS(segments_dot(x.data(), w.data(), 576, 5));
}

TEST_CASE("lanes: element i in lane i mod L, then folds by halves") {
  const std::vector<float> v = rough_values(21, 5);
  Lanes<4> sums, squares;
  for (size_t i = 0; i < v.size(); ++i) {
    sums.add(i, v[i]);
    squares.add_square(i, v[i]);
  }
  float lane[4] = {}, square_lane[4] = {};
  for (size_t i = 0; i < v.size(); ++i) {
    lane[i % 4] += v[i];
    square_lane[i % 4] = std::fma(v[i], v[i], square_lane[i % 4]);
  }
  CHECK(bits_of(sums.fold()) == bits_of((lane[0] + lane[2]) + (lane[1] + lane[3])));
  CHECK(bits_of(squares.fold()) ==
        bits_of((square_lane[0] + square_lane[2]) + (square_lane[1] + square_lane[3])));
}

TEST_CASE("vocabulary sums: blocks of 4,096, each 64 lanes counted from the block's start") {
  const std::vector<float> v = rough_values(4096 * 2 + 100, 6);
  std::vector<float> blocks;
  for (size_t first = 0; first < v.size(); first += 4096) {
    Lanes<64> lanes;
    for (size_t i = 0; i < 4096 && first + i < v.size(); ++i) lanes.add(i, v[first + i]);
    blocks.push_back(lanes.fold());
  }
  const float sum = vocabulary_sum(static_cast<int64_t>(v.size()),
                                   [&](int64_t i) { return v[static_cast<size_t>(i)]; });
  CHECK(bits_of(sum) == bits_of((blocks[0] + blocks[1]) + blocks[2]));
}

}  // namespace
}  // namespace isobit

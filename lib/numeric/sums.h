// The three shapes of sum of numeric contract section 2: Tree (and Segments of Trees), Lanes, and
// vocabulary-long blocks. No other order of addition exists in a set that claims
// same_bits_as_reference.
//
// Written for reading; a fast kernel keeps the order and is free in everything else. Every chain
// and every lane starts at +0, and an absent term is skipped, never added as a zero.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "numeric/ieee_arithmetic.h"

namespace isobit {

inline constexpr int64_t kTreeLeaf = 128;          // consecutive terms of one chain
inline constexpr int64_t kVocabularyBlock = 4096;  // logits per block of a vocabulary-long sum

// The balanced rule: T(1) = the part; T(n) = T(first p) + T(the other n - p), p the largest power
// of two below n. `combine(left, right)` gives the sum of two parts. REQUIRES: parts not empty.
template <class T, class Combine>
T balanced(std::span<const T> parts, const Combine& combine) {
  ISOBIT_REQUIRE(!parts.empty());
  if (parts.size() == 1) return parts[0];
  size_t p = 1;
  while (2 * p < parts.size()) p *= 2;
  return combine(balanced(parts.first(p), combine), balanced(parts.subspan(p), combine));
}

inline float balanced_sum(std::span<const float> parts) {
  return balanced(parts, [](float left, float right) { return left + right; });
}

// The same sum, part by part: a binary counter whose digit i holds the sum of 2^i consecutive
// parts.
class BalancedCounter {
 public:
  void add(float part) {
    size_t digit = 0;
    for (; count_ >> digit & 1; ++digit) part = digits_[digit] + part;
    digits_[digit] = part;
    ++count_;
  }

  // REQUIRES: at least one part was added.
  float sum() const {
    ISOBIT_REQUIRE(count_ > 0);
    size_t digit = 0;
    while (!(count_ >> digit & 1)) ++digit;
    float total = digits_[digit];
    for (++digit; count_ >> digit; ++digit) {
      if (count_ >> digit & 1) total = digits_[digit] + total;
    }
    return total;
  }

 private:
  std::array<float, 48> digits_{};
  uint64_t count_ = 0;
};

// Tree(K): sum over k of x[k] * w[k]. Both (n_terms). REQUIRES: n_terms > 0.
inline float tree_dot(const float* x, const float* w, int64_t n_terms) {
  BalancedCounter leaves;
  for (int64_t first = 0; first < n_terms; first += kTreeLeaf) {
    const int64_t end = first + kTreeLeaf < n_terms ? first + kTreeLeaf : n_terms;
    float chain = 0.0f;
    for (int64_t k = first; k < end; ++k) chain = std::fma(x[k], w[k], chain);
    leaves.add(chain);
  }
  return leaves.sum();
}

// Segments: n_terms is cut into n_segments equal Trees, combined by the balanced rule.
// REQUIRES: n_segments divides n_terms.
inline float segments_dot(const float* x, const float* w, int64_t n_terms, int64_t n_segments) {
  ISOBIT_REQUIRE(n_segments > 0 && n_terms % n_segments == 0);
  const int64_t width = n_terms / n_segments;
  BalancedCounter segments;
  for (int64_t s = 0; s < n_segments; ++s) {
    segments.add(tree_dot(x + s * width, w + s * width, width));
  }
  return segments.sum();
}

// Lanes(L): element i belongs to lane i mod L; at the end lanes fold by halves, lane j with j +
// half.
template <size_t L>
class Lanes {
  static_assert(L > 0 && (L & (L - 1)) == 0);

 public:
  void add(size_t element, float term) { lanes_[element % L] = lanes_[element % L] + term; }
  void add_square(size_t element, float x) {
    lanes_[element % L] = std::fma(x, x, lanes_[element % L]);
  }

  float fold() const {
    std::array<float, L> lanes = lanes_;
    for (size_t half = L / 2; half > 0; half /= 2) {
      for (size_t j = 0; j < half; ++j) lanes[j] = lanes[j] + lanes[j + half];
    }
    return lanes[0];
  }

 private:
  std::array<float, L> lanes_{};
};

// Sum over a vocabulary-long row of term(i), i in [0, n): blocks of 4,096 from element 0, each
// Lanes(64), blocks by the balanced rule. REQUIRES: n > 0.
template <class Term>
float vocabulary_sum(int64_t n, const Term& term) {
  BalancedCounter blocks;
  for (int64_t first = 0; first < n; first += kVocabularyBlock) {
    Lanes<64> lanes;
    for (int64_t i = first; i < n && i < first + kVocabularyBlock; ++i) {
      lanes.add(static_cast<size_t>(i - first), term(i));
    }
    blocks.add(lanes.fold());
  }
  return blocks.sum();
}

}  // namespace isobit

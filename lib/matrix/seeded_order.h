// Shuffles that are the same on every machine: std::shuffle and the standard distributions leave
// their draws open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace isobit {

// SplitMix64 (Steele, Lea and Flood 2014): one 64-bit state, one output per step.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // In [0, bound). The modulo's bias is below bound / 2^64.
  uint64_t below(uint64_t bound) { return next() % bound; }

 private:
  uint64_t state_;
};

// Fisher and Yates, from the back.
template <typename Item>
void shuffle(Item* items, size_t n, SplitMix64& random) {
  for (size_t i = n; i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace isobit

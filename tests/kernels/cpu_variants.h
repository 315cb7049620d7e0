// The variants of the set `cpu` that this machine can run, adversarial numbers, and the comparison
// that every test of them ends with: the same 32 bits as `reference`, or the first element that
// differs.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/reference.h"
#include "kernels/registry.h"
#include "tensor/half.h"
#include "tensor/tensor_view.h"

namespace isobit {

// Says once which variants it leaves out.
inline const std::vector<const KernelSet*>& cpu_variants() {
  static const std::vector<const KernelSet*> variants = [] {
    std::vector<const KernelSet*> found;
    for (const KernelSetStatus& s : list_kernel_sets()) {
      if (s.name != "cpu") continue;
      if (s.available) {
        found.push_back(&kernel_set("cpu", s.isa));
      } else {
        std::printf("SKIPPED cpu/%s: %s\n", s.isa.c_str(), s.reason.c_str());
      }
    }
    return found;
  }();
  REQUIRE(!variants.empty());
  return variants;
}

// "" when both hold the same bits, else the first difference, with the element that differs and
// both patterns.
template <class T>
std::string first_difference(const T* expected, const T* actual, size_t n) {
  if (std::memcmp(expected, actual, n * sizeof(T)) == 0) return {};
  for (size_t i = 0; i < n; ++i) {
    if (std::memcmp(expected + i, actual + i, sizeof(T)) == 0) continue;
    unsigned long long e = 0, a = 0;
    std::memcpy(&e, expected + i, sizeof(T));
    std::memcpy(&a, actual + i, sizeof(T));
    char text[160];
    std::snprintf(text, sizeof(text),
                  "element %zu of %zu: expected 0x%08llx (%g), found 0x%08llx (%g)", i, n, e,
                  static_cast<double>(expected[i]), a, static_cast<double>(actual[i]));
    return text;
  }
  return "padding differs";
}

inline std::string first_difference(const std::vector<float>& expected,
                                    const std::vector<float>& actual) {
  if (expected.size() != actual.size()) return "sizes differ";
  return first_difference(expected.data(), actual.data(), expected.size());
}

// Numbers that rounding and signs of zero get wrong first: mostly ordinary ones, then zeros of both
// signs, subnormals, and magnitudes far apart, so that sums cancel. Finite, and products of two
// stay finite.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : random_(seed) {}

  uint32_t bits() { return random_(); }
  uint32_t below(uint32_t n) { return random_() % n; }

  float next() {
    const float sign = random_() & 1 ? -1.0f : 1.0f;
    const float unit = static_cast<float>(random_() >> 8) * 0x1p-24f;
    switch (random_() % 16) {
      case 0:
        return sign * 0.0f;
      case 1:
        return sign * unit * 0x1p-126f;
      case 2:
        return sign * unit * 0x1p20f;
      case 3:
        return sign * unit * 0x1p-30f;
      case 4:
        return sign;
      default:
        return sign * unit * 4.0f;
    }
  }
  float ordinary() { return (static_cast<float>(random_() >> 8) * 0x1p-24f - 0.5f) * 4.0f; }

  std::vector<float> many(size_t n) {
    std::vector<float> v(n);
    for (float& e : v) e = next();
    return v;
  }
  // An f16 that is finite, often small, sometimes subnormal or a zero.
  uint16_t half() {
    const auto mantissa_and_sign = static_cast<uint16_t>(random_() & 0x83FFu);
    const uint32_t exponent = random_() % 8 == 0 ? 0 : 4 + random_() % 14;
    return random_() % 32 == 0 ? static_cast<uint16_t>(mantissa_and_sign & 0x8000u)
                               : static_cast<uint16_t>(mantissa_and_sign | exponent << 10);
  }

 private:
  std::mt19937 random_;
};

}  // namespace isobit

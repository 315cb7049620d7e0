// Every variant's elementary functions give the bits of `reference`, whatever the array's length.
#include "tests/kernels/cpu_variants.h"

namespace isobit {
namespace {

// A sample over all bit patterns, then the ends of every binade, both signs.
std::vector<float> inputs() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent) {
    for (const uint32_t mantissa : {0u, 1u, 0x2AAAABu, 0x3504F3u, 0x400000u, 0x7FFFFEu, 0x7FFFFFu})
      x.push_back(std::bit_cast<float>(sign_and_exponent << 23 | mantissa));
  }
  return x;
}

TEST_CASE("every variant gives the bits of reference for a sample of all inputs") {
  const std::vector<float> x = inputs();
  std::vector<float> expected(x.size()), found(x.size());
  for (const Elementary function : kElementaryFunctions) {
    reference_kernel_set().elementary(function, x.data(), static_cast<int64_t>(x.size()),
                                      expected.data());
    for (const KernelSet* set : cpu_variants()) {
      CAPTURE(name(function));
      CAPTURE(set->isa);
      set->elementary(function, x.data(), static_cast<int64_t>(x.size()), found.data());
      CHECK(first_difference(expected, found) == "");
    }
  }
}

TEST_CASE("arrays that end inside a vector, and nothing written past them") {
  const std::vector<float> x = {0.5f, -1.0f, 2.0f,  0.25f, 3.0f, -0.5f, 1.5f, 0.75f, 4.0f,
                                5.0f, -2.0f, 0.1f,  0.2f,  0.3f, 6.0f,  7.0f, 0.9f,  1.1f,
                                1.2f, 1.3f,  -3.0f, 8.0f,  9.0f, 10.0f, 11.0f};
  for (const Elementary function : kElementaryFunctions) {
    for (size_t n = 1; n <= x.size(); ++n) {
      std::vector<float> expected(x.size(), 42.0f);
      reference_kernel_set().elementary(function, x.data(), static_cast<int64_t>(n),
                                        expected.data());
      for (const KernelSet* set : cpu_variants()) {
        std::vector<float> found(x.size(), 42.0f);
        set->elementary(function, x.data(), static_cast<int64_t>(n), found.data());
        CAPTURE(set->isa);
        CAPTURE(n);
        CHECK(first_difference(expected, found) == "");
      }
    }
  }
}

}  // namespace
}  // namespace isobit

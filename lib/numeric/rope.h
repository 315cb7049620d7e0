// Rotary position tables (numeric contract section 3, row rope): cos and sin of position *
// inv_freq, each the f32 nearest to the true value.
//
// "Nearest to the true value" is a definition that needs no routine: whoever computes it right gets
// these bits. The table is made on the host with binary64 arithmetic and a known error bound; where
// that bound straddles a rounding boundary of f32, the entry is computed again with about 100 bits.
// No libm function with unspecified last bits takes part. Devices are given the finished table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isobit {

// inv_freq[i] = RN32(theta^(-2i/d)) for i in [0, d/2), in binary64 as 1 / theta^(2i/d); with
// `factors` (GGUF's rope_freqs), divided by factors[i] before the one rounding to f32.
//   factors: (rotary_dim / 2), or empty. REQUIRES: rotary_dim even and positive, theta > 0, no
//   factor 0.
std::vector<float> rope_inverse_frequencies(double theta, int64_t rotary_dim,
                                            std::span<const float> factors = {});

struct RopeTable {
  int64_t n_positions = 0;
  int64_t half_dim = 0;
  std::vector<float> cos;  // (n_positions, half_dim)
  std::vector<float> sin;  // (n_positions, half_dim)
};

// Entries for positions [0, n_positions). REQUIRES: n_positions <= 2^24.
RopeTable make_rope_table(std::span<const float> inverse_frequencies, int64_t n_positions);

struct SinCos {
  float sin;
  float cos;
};

// The f32 nearest to sin(angle) and cos(angle), |angle| < 2^31.
SinCos nearest_sin_cos(double angle);
// The same, always by way of the ~100-bit evaluation: what the fast path is tested against.
SinCos nearest_sin_cos_by_double_double(double angle);

}  // namespace isobit

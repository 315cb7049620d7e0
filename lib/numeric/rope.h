// Rotary position tables (numeric contract section 3, row rope): cos and sin of position *
// inv_freq, each the f32 nearest to the true value.
//
// "Nearest to the true value" is a definition that needs no routine: whoever computes it right gets
// these bits. The table is made on the host with binary64 arithmetic and a known error bound; where
// that bound straddles a rounding boundary of f32, the entry is computed again with about 100 bits.
// No libm function with unspecified last bits takes part. Devices are given the finished table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isobit {

// How Hugging Face's formulas scale the frequencies; `dynamic` depends on the running length and
// has no place here.
enum class RopeKind : uint8_t { kPlain, kLinear, kLlama3, kYarn, kLongrope };

// Binary64 fields keep the decimals of the configuration (numeric contract section 1). The names
// are those of transformers' rope_parameters.
struct RopeConfig {
  RopeKind kind = RopeKind::kPlain;
  double theta = 10000;
  double factor = 1;              // linear, llama3, yarn; of longrope only for attention_factor
  double original_positions = 0;  // original_max_position_embeddings: llama3, yarn, longrope
  double low_freq_factor = 1;     // llama3
  double high_freq_factor = 4;    // llama3
  double beta_fast = 32;          // yarn
  double beta_slow = 1;           // yarn
  bool truncate = true;           // yarn: whole dimensions bound the ramp
  double mscale = 0;              // yarn: 0 is absent
  double mscale_all_dim = 0;      // yarn: 0 is absent
  std::optional<double> attention_factor =
      {};                                  // of cos and sin; absent: by the formula of the kind
  std::vector<double> long_or_short = {};  // longrope: the list in force, (rotary_dim / 2)
  std::vector<float> divisors = {};        // a GGUF's rope_freqs, (rotary_dim / 2), or empty

  bool operator==(const RopeConfig&) const = default;
};

// inv_freq[i] for i in [0, rotary_dim / 2), in binary64 in the order of transformers'
// modeling_rope_utils.py, rounded once to f32. With `divisors`, RN32(theta^(-2i/d) / divisor).
// REQUIRES: rotary_dim even and positive, theta > 0, factor > 0, no factor of a list 0 and each
// list as long as said above.
std::vector<float> rope_inverse_frequencies(const RopeConfig& config, int64_t rotary_dim);

// What cos and sin are multiplied by: stated, or by the formula of the kind (yarn, longrope),
// else 1.
double rope_attention_factor(const RopeConfig& config);

struct RopeTable {
  int64_t n_positions = 0;
  int64_t half_dim = 0;
  std::vector<float> cos;  // (n_positions, half_dim)
  std::vector<float> sin;  // (n_positions, half_dim)
};

// Entries for positions [0, n_positions). REQUIRES: n_positions <= 2^24, attention_factor > 0.
RopeTable make_rope_table(std::span<const float> inverse_frequencies, int64_t n_positions,
                          double attention_factor = 1);

struct SinCos {
  float sin;
  float cos;
};

// The f32 nearest to factor * sin(angle) and factor * cos(angle), |angle| < 2^31.
SinCos nearest_sin_cos(double angle, double factor = 1);
// The same, always by way of the ~100-bit evaluation: what the fast path is tested against.
SinCos nearest_sin_cos_by_double_double(double angle, double factor = 1);

}  // namespace isobit

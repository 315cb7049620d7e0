// The frequencies of rotary positions as transformers' modeling_rope_utils.py defines them, in
// binary64. Where that file calls log or pow, about 100 bits stand in, so that no library's last
// bits take part.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "numeric/double_double.h"
#include "numeric/rope.h"

namespace isobit {
namespace {

constexpr double kTwoPi = 0x1.921fb54442d18p+2;

double log_of(double x) {
  return natural_log(x).hi;
}

// base^(2i/d), of pair i.
double wave(const RopeConfig& config, size_t i, int64_t rotary_dim) {
  return power(config.theta, static_cast<double>(2 * i) / static_cast<double>(rotary_dim)).hi;
}

double llama3(const RopeConfig& c, double plain) {
  const double low_wavelength = c.original_positions / c.low_freq_factor,
               high_wavelength = c.original_positions / c.high_freq_factor;
  const double wavelength = kTwoPi / plain;
  if (wavelength > low_wavelength) return plain / c.factor;
  if (wavelength < high_wavelength) return plain;
  const double smooth = (c.original_positions / wavelength - c.low_freq_factor) /
                        (c.high_freq_factor - c.low_freq_factor);
  return (1 - smooth) * plain / c.factor + smooth * plain;
}

// Between which pairs yarn moves from the plain to the interpolated frequencies.
struct YarnRange {
  double low, high;
};

YarnRange yarn_range(const RopeConfig& c, int64_t rotary_dim) {
  const auto dim = static_cast<double>(rotary_dim);
  const auto correction = [&](double rotations) {
    return (dim * log_of(c.original_positions / (rotations * kTwoPi))) / (2 * log_of(c.theta));
  };
  double low = correction(c.beta_fast), high = correction(c.beta_slow);
  if (c.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dim - 1);
  return {low, low == high ? high + 0.001 : high};
}

double yarn(const RopeConfig& c, const YarnRange& range, size_t i, double wave) {
  const double ramp =
      std::clamp((static_cast<double>(i) - range.low) / (range.high - range.low), 0.0, 1.0);
  const double plain_share = 1 - ramp;
  return 1.0 / (c.factor * wave) * (1 - plain_share) + 1.0 / wave * plain_share;
}

double yarn_scale(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * log_of(factor) + 1.0;
}

}  // namespace

std::vector<float> rope_inverse_frequencies(const RopeConfig& c, int64_t rotary_dim) {
  ISOBIT_REQUIRE(c.theta > 0 && c.factor > 0 && rotary_dim > 0 && rotary_dim % 2 == 0);
  const auto half = static_cast<size_t>(rotary_dim / 2);
  ISOBIT_REQUIRE(c.divisors.empty() || c.divisors.size() == half);
  ISOBIT_REQUIRE(c.kind != RopeKind::kLongrope || c.long_or_short.size() == half);
  const YarnRange range = c.kind == RopeKind::kYarn ? yarn_range(c, rotary_dim) : YarnRange{};
  const auto frequency = [&](size_t i) {
    const double w = wave(c, i, rotary_dim);
    switch (c.kind) {
      case RopeKind::kPlain:
        return c.divisors.empty() ? 1.0 / w : 1.0 / w / static_cast<double>(c.divisors[i]);
      case RopeKind::kLinear:
        return 1.0 / w / c.factor;
      case RopeKind::kLlama3:
        return llama3(c, 1.0 / w);
      case RopeKind::kYarn:
        return yarn(c, range, i, w);
      case RopeKind::kLongrope:
        return 1.0 / (c.long_or_short[i] * w);
    }
    fail_require("a formula for every kind of rope", __FILE__, __LINE__);
  };
  std::vector<float> inverse(half);
  for (size_t i = 0; i < half; ++i) inverse[i] = static_cast<float>(frequency(i));
  return inverse;
}

double rope_attention_factor(const RopeConfig& c) {
  if (c.attention_factor) return *c.attention_factor;
  if (c.kind == RopeKind::kYarn) {
    if (c.mscale != 0 && c.mscale_all_dim != 0)
      return yarn_scale(c.factor, c.mscale) / yarn_scale(c.factor, c.mscale_all_dim);
    return yarn_scale(c.factor, 1);
  }
  if (c.kind == RopeKind::kLongrope && c.factor > 1)
    return std::sqrt(1 + log_of(c.factor) / log_of(c.original_positions));
  return 1;
}

}  // namespace isobit

#include "compare/bits.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace isobit {
namespace {

// Maps bit patterns to integers in the order of the values they stand for, -0 just below +0.
uint32_t ordered(float value) {
  const uint32_t bits = bits_of(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

}  // namespace

uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

std::string bits_text(float value) {
  return fmt::format("0x{:08x}", bits_of(value));
}

std::optional<uint32_t> ulp_distance(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::nullopt;
  const uint32_t x = ordered(a);
  const uint32_t y = ordered(b);
  return x > y ? x - y : y - x;
}

std::optional<double> distance_nats(float a, float b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
  return std::fabs(static_cast<double>(a) - static_cast<double>(b));
}

}  // namespace isobit

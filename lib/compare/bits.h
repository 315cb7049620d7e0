// Float bit patterns and their distances. "Same" means the same bits, so +0 and -0 differ here, by
// one step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace isobit {

uint32_t bits_of(float value);
std::string bits_text(float value);  // "0xbf800000"

// Representable binary32 steps from one to the other; 0 only for the same bits. Absent when either
// is a NaN.
std::optional<uint32_t> ulp_distance(float a, float b);

// |a - b| in binary64. Absent unless both are finite.
std::optional<double> distance_nats(float a, float b);

}  // namespace isobit

// A digest of what the elementary functions return on this machine, for the fingerprint: two builds
// whose digests differ cannot be expected to agree in bits. Not part of the core, since it needs
// SHA-256.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace isobit {

// SHA-256, as hex, of the results (little-endian f32) for the inputs with bit patterns 0, stride,
// 2 * stride, ... below 2^32. `function` is one of exp, exp2, log, tanh, erf. REQUIRES: stride > 0.
std::string function_digest(const std::string& function, uint64_t stride);

// Every function by name, over a fixed sample of 65,550 inputs.
std::map<std::string, std::string> function_digests();

}  // namespace isobit

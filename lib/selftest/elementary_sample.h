// A sample of what the elementary functions return on this machine, for the fingerprint: two builds
// whose samples differ cannot be expected to agree in bits.
#pragma once

#include <string>
#include <vector>

#include "base/digest.h"
#include "kernels/ops.h"

namespace isobit {

inline constexpr uint32_t kSampleStride = 65521;  // a prime: exponents and mantissas are spread
inline constexpr int64_t kSampleInputs = (int64_t{1} << 32) / kSampleStride + 1;  // 65,550

// SHA-256 of the set's results for the inputs 0, kSampleStride, 2 * kSampleStride, ... below 2^32.
// REQUIRES: set.elementary.
Sha256Digest sample_digest(const KernelSet& set, Elementary function);

// The digest, as hex, that `reference` and every variant of `cpu` that runs here give; where they
// do not agree, each one's: "scalar 0f3a..., avx2 77c1...".
std::string sample_on_this_machine(Elementary function);

// `reference` and the variants of `cpu` that run here, in the registry's order.
std::vector<const KernelSet*> elementary_variants();

}  // namespace isobit

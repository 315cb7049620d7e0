// The published digests of the elementary functions: what every build on every machine must
// reproduce (numeric contract section 3).
//
// The 2^32 inputs of a function are cut into 256 slices by the top byte of the input's bits: slice
// s holds the inputs s * 2^24 ... s * 2^24 + 2^24 - 1 in ascending order of bits. A slice's digest
// is SHA-256 over the results, 4 bytes each, little-endian. The total is SHA-256 over the 256
// digests of 32 bytes, slice 0 first. The sample is SHA-256 over the results for the inputs 0,
// 65521, 2 * 65521, ... below 2^32: small enough for every fingerprint.
//
// docs/elementary-digests.txt holds them and is compiled into the program. `isobit selftest
// --exhaustive -o FILE` writes such a file.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "numeric/elementary.h"

namespace isobit {

inline constexpr int kSlices = 256;
inline constexpr int64_t kSliceInputs = int64_t{1} << 24;

struct FunctionDigests {
  std::array<Sha256Digest, kSlices> slices;
  Sha256Digest sample;
};

Sha256Digest total_digest(const FunctionDigests& digests);

using ElementaryDigests = std::array<FunctionDigests, std::size(kElementaryFunctions)>;

inline const FunctionDigests& digests_of(const ElementaryDigests& digests, Elementary function) {
  return digests[static_cast<size_t>(function)];
}

// Lines "FUNCTION total HEX", "FUNCTION sample HEX" and "FUNCTION SLICE HEX" (SLICE two hex
// digits), functions and slices in order; lines from # on and empty ones say nothing.
std::string digests_text(const ElementaryDigests& digests);

// Strict: exactly those lines, and totals that the slices give. Throws Error(usage) beginning with
// `where`.
ElementaryDigests digests_from_text(std::string_view text, const std::string& where);

// The ones of this build.
const ElementaryDigests& published_digests();

}  // namespace isobit

// One digest over a sorted list of digests, from which a single changed leaf can be located or
// proved.
#pragma once

#include <vector>

#include "base/digest.h"

namespace isobit {

// RFC 6962's tree over already hashed leaves: a node is SHA-256(0x01, left, right), the left side
// the largest power of two below the count. No leaves: SHA-256 of nothing. REQUIRES: leaves are
// domain-separated from nodes (tensor digests are: they begin with a framed text).
Sha256Digest merkle_root(const std::vector<Sha256Digest>& leaves);

}  // namespace isobit

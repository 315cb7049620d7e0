#include "fingerprint/merkle.h"

#include <bit>
#include <span>

namespace isobit {
namespace {

Sha256Digest root_of(std::span<const Sha256Digest> leaves) {
  if (leaves.size() == 1) return leaves[0];
  const size_t left = std::bit_floor(leaves.size() - 1);
  const Sha256Digest a = root_of(leaves.first(left)), b = root_of(leaves.subspan(left));
  const uint8_t node = 1;
  return Sha256().update(&node, 1).update(a.data(), a.size()).update(b.data(), b.size()).finish();
}

}  // namespace

Sha256Digest merkle_root(const std::vector<Sha256Digest>& leaves) {
  return leaves.empty() ? sha256("") : root_of(leaves);
}

}  // namespace isobit

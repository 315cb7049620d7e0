#include "engine/row_scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace isobit {

static_assert(std::endian::native == std::endian::little,
              "digests are defined over little-endian f32");

Hash128 logits_hash(std::span<const float> row) {
  constexpr size_t kBlock = 1024;
  std::vector<XXH128_canonical_t> blocks;
  blocks.reserve(row.size() / kBlock + 1);
  for (size_t at = 0; at < row.size(); at += kBlock) {
    const size_t n = std::min(kBlock, row.size() - at);
    blocks.emplace_back();
    XXH128_canonicalFromHash(&blocks.back(), XXH3_128bits(row.data() + at, n * sizeof(float)));
  }
  XXH128_canonical_t whole;
  XXH128_canonicalFromHash(&whole, XXH3_128bits(blocks.data(), blocks.size() * sizeof blocks[0]));
  Hash128 out;
  static_assert(sizeof whole == sizeof out);
  std::memcpy(out.data(), &whole, sizeof out);
  return out;
}

bool all_finite(std::span<const float> row) {
  uint32_t bad = 0;
  for (const float z : row) bad |= (std::bit_cast<uint32_t>(z) & 0x7F800000u) == 0x7F800000u;
  return bad == 0;
}

std::vector<RankedLogit> top_logits(std::span<const float> row, int64_t n) {
  const auto ranks_before = [](const RankedLogit& a, const RankedLogit& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.token_id < b.token_id);
  };
  const size_t wanted = std::min(row.size(), static_cast<size_t>(std::max<int64_t>(n, 0)));
  std::vector<RankedLogit>
      best;  // sorted; ids ascend during the scan, so a tie never displaces an earlier id
  if (wanted == 0) return best;
  best.reserve(wanted + 1);
  for (size_t id = 0; id < row.size(); ++id) {
    if (best.size() == wanted && !(row[id] > best.back().logit)) continue;
    const RankedLogit candidate{static_cast<int32_t>(id), row[id]};
    best.insert(std::upper_bound(best.begin(), best.end(), candidate, ranks_before), candidate);
    if (best.size() > wanted) best.pop_back();
  }
  return best;
}

float logprob(float logit, float row_max, float log_of_sum) {
  return (logit - row_max) - log_of_sum;
}

}  // namespace isobit

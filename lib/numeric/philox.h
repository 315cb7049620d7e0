// Philox4x32-10: the counter-based generator behind sampling (numeric contract section 5.6).
//
// A draw is a pure function of (request seed, position, token id, sample index): no generator state
// exists that a neighbour in the batch, a restart or a retry could move.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "numeric/lanes_scalar.h"

namespace isobit {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

inline PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0], product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

// u = ((r >> 9) + 0.5) * 2^-23, in (0, 1); exact. g = -log(-log(u)).
inline float gumbel_from_word(uint32_t r) {
  const float u = (static_cast<float>(r >> 9) + 0.5f) * 0x1p-23f;
  return -log_f32(-log_f32(u));
}

// The four words whose Gumbel noise belongs to token ids 4 * id_block .. 4 * id_block + 3.
//   position: absolute index, from 0, that the sampled token will occupy. sample_index: which of a
//   request's `n` choices, from 0.
inline PhiloxCounter sampling_words(uint64_t seed, uint32_t position, uint32_t id_block,
                                    uint32_t sample_index) {
  return philox4x32_10({position, id_block, sample_index, 0},
                       {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

inline float gumbel_noise(uint64_t seed, uint32_t position, uint32_t token_id,
                          uint32_t sample_index) {
  return gumbel_from_word(sampling_words(seed, position, token_id / 4, sample_index)[token_id % 4]);
}

}  // namespace isobit

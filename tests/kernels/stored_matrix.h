// Random stored matrices of every dtype that the engine computes with.
#pragma once

#include <cstring>
#include <vector>

#include "tests/kernels/cpu_variants.h"

namespace isobit {

inline constexpr DType kDTypes[] = {DType::kF32,  DType::kF16,    DType::kBF16,   DType::kQ8_0,
                                    DType::kQ4_0, DType::kQ4_1,   DType::kQ4_K,   DType::kQ6_K,
                                    DType::kQ5_0, DType::kQ5_1,   DType::kQ2_K,   DType::kQ3_K,
                                    DType::kQ5_K, DType::kIQ4_NL, DType::kIQ4_XS, DType::kMXFP4};

// A stored matrix and its bytes.
struct Stored {
  std::vector<std::byte> bytes;
  TensorView view;
};

inline void put_half(std::byte* p, uint16_t h) {
  std::memcpy(p, &h, 2);
}

// Where the f16 fields of a block are; everything else may be any byte.
inline std::vector<size_t> half_offsets(DType dtype) {
  switch (dtype) {
    case DType::kQ4_1:
    case DType::kQ5_1:
    case DType::kQ4_K:
    case DType::kQ5_K:
      return {0, 2};
    case DType::kQ2_K:
      return {80, 82};
    case DType::kQ3_K:
      return {108};
    case DType::kQ6_K:
      return {208};
    case DType::kF16:
    case DType::kQ8_0:
    case DType::kQ4_0:
    case DType::kQ5_0:
    case DType::kIQ4_NL:
    case DType::kIQ4_XS:
      return {0};
    default:
      return {};
  }
}

inline void fill_block(DType dtype, std::byte* block, size_t n_bytes, Numbers& numbers) {
  if (dtype == DType::kF32) {
    const float v = numbers.next();
    std::memcpy(block, &v, 4);
  } else if (dtype == DType::kBF16) {
    put_half(block, bf16_from_f32(numbers.next()));
  } else {
    for (size_t i = 0; i < n_bytes; ++i) block[i] = static_cast<std::byte>(numbers.bits() >> 13);
    for (const size_t at : half_offsets(dtype)) put_half(block + at, numbers.half());
    if (dtype == DType::kMXFP4)  // near 1, where sums stay finite
      block[0] = static_cast<std::byte>(120 + std::to_integer<int>(block[0]) % 16);
  }
}

inline Stored random_matrix(DType dtype, int64_t n_out, int64_t n_in, Numbers& numbers) {
  Stored s;
  s.view.dtype = dtype;
  s.view.shape = {n_out, n_in};
  s.bytes.resize(static_cast<size_t>(n_out) * s.view.row_bytes());
  const DTypeTraits& t = traits(dtype);
  for (size_t at = 0; at < s.bytes.size(); at += t.block_bytes)
    fill_block(dtype, &s.bytes[at], t.block_bytes, numbers);
  s.view.bytes = s.bytes;
  return s;
}

inline bool fits(DType dtype, int64_t n_in) {
  return n_in % static_cast<int64_t>(traits(dtype).block_elems) == 0;
}

}  // namespace isobit

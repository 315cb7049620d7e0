// Small inputs for the operators of a kernel set: values rough enough that another order of
// addition gives other bits, a matrix with its TensorView, and a paged cache with scattered block
// tables.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/ops.h"

namespace isobit::test {

inline uint32_t bits_of(float x) {
  return std::bit_cast<uint32_t>(x);
}

inline std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float v : values) bits.push_back(bits_of(v));
  return bits;
}

// n values, mostly within (-2, 2), from a fixed generator.
inline std::vector<float> rough_values(int64_t n, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(n));
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    const float magnitude = std::ldexp(1.0f, static_cast<int>(state >> 29) - 6);
    state = state * 1664525u + 1013904223u;
    v = (static_cast<float>(state >> 8) / 8388608.0f - 1.0f) * magnitude;
  }
  return values;
}

// FNV-1a over the little-endian bits: goldens that every compiler and machine must reproduce.
inline uint64_t golden(const std::vector<float>& values) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const float v : values) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ (bits_of(v) >> shift & 255)) * 0x100000001B3;
    }
  }
  return hash;
}

// A stored f32 matrix (n_out, n_in).
struct Matrix {
  std::vector<float> values;
  TensorView view;

  Matrix(int64_t n_out, int64_t n_in, uint32_t seed) : values(rough_values(n_out * n_in, seed)) {
    view.shape = {n_out, n_in};
    view.bytes = std::as_bytes(std::span(values));
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
};

inline std::vector<float> matmul(const KernelSet& set, const PackedMatrix& w,
                                 const std::vector<float>& x, ThreadPool& pool) {
  const auto n_rows = static_cast<int64_t>(x.size()) / w.n_in;
  std::vector<float> y(static_cast<size_t>(n_rows * w.n_out));
  set.matmul(w, x.data(), n_rows, y.data(), pool);
  return y;
}

// One layer's cache for sequences of the given lengths, filled through the set's own kv_write, and
// the rows of a step: the last `n_query_rows` positions of each sequence.
struct CachedSequences {
  KvLayerView cache;
  std::vector<std::byte> keys, values;
  std::vector<std::vector<int32_t>> tables;
  std::vector<const int32_t*> table_pointers;
  std::vector<int32_t> positions, sequence_of_row;

  CachedSequences(const KernelSet& set, KvDType dtype, int64_t n_kv_heads, int64_t head_dim,
                  const std::vector<int64_t>& lengths, int64_t n_query_rows, ThreadPool& pool,
                  const std::vector<uint32_t>& seeds, int32_t first_block = 0) {
    const size_t entry_bytes = dtype == KvDType::kF32 ? 4 : 2;
    int64_t n_blocks = first_block;
    for (const int64_t length : lengths) n_blocks += (length + kKvBlockTokens - 1) / kKvBlockTokens;
    const size_t bytes =
        static_cast<size_t>(n_blocks * n_kv_heads * head_dim * kKvBlockTokens) * entry_bytes;
    keys.assign(bytes, std::byte{0xFF});  // a stale entry that is read shows: all ones is a NaN
    values.assign(bytes, std::byte{0xFF});
    cache = {dtype, n_kv_heads, head_dim, keys.data(), values.data()};
    auto next_block =
        static_cast<int32_t>(n_blocks - 1);  // descending, so that no table is the identity
    for (const int64_t length : lengths) {
      tables.emplace_back();
      for (int64_t p = 0; p < length; p += kKvBlockTokens) tables.back().push_back(next_block--);
    }
    for (const auto& table : tables) table_pointers.push_back(table.data());
    for (size_t s = 0; s < lengths.size(); ++s) write_sequence(set, s, lengths[s], seeds[s], pool);
    for (size_t s = 0; s < lengths.size(); ++s) {
      for (int64_t p = std::max<int64_t>(0, lengths[s] - n_query_rows); p < lengths[s]; ++p) {
        positions.push_back(static_cast<int32_t>(p));
        sequence_of_row.push_back(static_cast<int32_t>(s));
      }
    }
  }
  CachedSequences(const CachedSequences&) = delete;
  CachedSequences& operator=(const CachedSequences&) = delete;

  BatchView batch() const {
    return {static_cast<int64_t>(positions.size()), positions.data(), sequence_of_row.data(),
            static_cast<int64_t>(tables.size()), table_pointers.data()};
  }

 private:
  void write_sequence(const KernelSet& set, size_t s, int64_t length, uint32_t seed,
                      ThreadPool& pool) {
    std::vector<int32_t> all(static_cast<size_t>(length)),
        of(static_cast<size_t>(length), static_cast<int32_t>(s));
    for (size_t p = 0; p < all.size(); ++p) all[p] = static_cast<int32_t>(p);
    const int64_t width = cache.n_kv_heads * cache.head_dim;
    const std::vector<float> k = rough_values(length * width, seed),
                             v = rough_values(length * width, seed + 1);
    const BatchView rows{length, all.data(), of.data(), static_cast<int64_t>(tables.size()),
                         table_pointers.data()};
    set.kv_write(k.data(), v.data(), width, rows, cache, pool);
  }
};

inline std::vector<float> attend(const KernelSet& set, const CachedSequences& sequences,
                                 const AttentionShape& shape, const std::vector<float>& q,
                                 ThreadPool& pool) {
  std::vector<float> out(q.size());
  set.attention(q.data(), shape.n_heads * shape.head_dim, shape, sequences.batch(), sequences.cache,
                out.data(), pool);
  return out;
}

}  // namespace isobit::test

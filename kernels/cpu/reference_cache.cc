// kv_write, and what an entry of the paged cache means. A value is rounded once, when it is
// written; every reader, the chunk that wrote it included, sees the rounded one.
#include <cstring>

#include "base/error.h"
#include "kernels/cpu/reference_operators.h"
#include "tensor/half.h"

namespace isobit::reference {
namespace {

template <class T>
T load(const std::byte* entries, size_t index) {
  T v;
  std::memcpy(&v, entries + index * sizeof(T), sizeof(T));
  return v;
}

template <class T>
void store(std::byte* entries, size_t index, T v) {
  std::memcpy(entries + index * sizeof(T), &v, sizeof(T));
}

}  // namespace

float load_kv(KvDType dtype, const std::byte* entries, size_t index) {
  switch (dtype) {
    case KvDType::kF16:
      return f32_from_f16(load<uint16_t>(entries, index));
    case KvDType::kBF16:
      return f32_from_bf16(load<uint16_t>(entries, index));
    case KvDType::kF32:
      return load<float>(entries, index);
  }
  fail_require("a known KvDType", __FILE__, __LINE__);
}

void store_kv(KvDType dtype, std::byte* entries, size_t index, float v) {
  switch (dtype) {
    case KvDType::kF16:
      return store(entries, index, f16_from_f32(v));
    case KvDType::kBF16:
      return store(entries, index, bf16_from_f32(v));
    case KvDType::kF32:
      return store(entries, index, v);
  }
  fail_require("a known KvDType", __FILE__, __LINE__);
}

void kv_write(const float* k, const float* v, int64_t row_stride, const BatchView& batch,
              const KvLayerView& cache, ThreadPool& pool) {
  pool.run(static_cast<size_t>(batch.n_rows), [&](size_t r, int) {
    const int64_t position = batch.positions[r];
    const int64_t block = batch.block_tables[batch.sequence_of_row[r]][position / kKvBlockTokens];
    const int64_t slot = position % kKvBlockTokens;
    const float* key = k + static_cast<int64_t>(r) * row_stride;
    const float* value = v + static_cast<int64_t>(r) * row_stride;
    for (int64_t h = 0; h < cache.n_kv_heads; ++h) {
      for (int64_t d = 0; d < cache.head_dim; ++d) {
        const int64_t i = h * cache.head_dim + d;
        store_kv(cache.dtype, cache.keys, key_index(cache, block, h, d, slot), key[i]);
        store_kv(cache.dtype, cache.values, value_index(cache, block, h, slot, d), value[i]);
      }
    }
  });
}

}  // namespace isobit::reference

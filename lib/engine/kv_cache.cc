#include "engine/kv_cache.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "tensor/half.h"

namespace isobit {
namespace {

float stored_value(KvDType dtype, const std::byte* entries, int64_t index) {
  uint16_t half = 0;
  float value = 0;
  if (dtype == KvDType::kF32) {
    std::memcpy(&value, entries + index * 4, 4);
    return value;
  }
  std::memcpy(&half, entries + index * 2, 2);
  return dtype == KvDType::kF16 ? f32_from_f16(half) : f32_from_bf16(half);
}

}  // namespace

int64_t bytes_per_value(KvDType dtype) {
  return dtype == KvDType::kF32 ? 4 : 2;
}

const char* name(KvDType dtype) {
  switch (dtype) {
    case KvDType::kF16:
      return "f16";
    case KvDType::kF32:
      return "f32";
    case KvDType::kBF16:
      return "bf16";
  }
  return "unknown";
}

void KvCache::Free::operator()(std::byte* at) const {
  std::free(at);
}

void read_kv_entry(const KvLayerView& c, int64_t block, int64_t slot, float* out) {
  const int64_t width = c.n_kv_heads * c.head_dim;
  for (int64_t h = 0; h < c.n_kv_heads; ++h) {
    const int64_t head = (block * c.n_kv_heads + h) * c.head_dim * kKvBlockTokens;
    for (int64_t d = 0; d < c.head_dim; ++d) {
      out[h * c.head_dim + d] = stored_value(c.dtype, c.keys, head + d * kKvBlockTokens + slot);
      out[width + h * c.head_dim + d] =
          stored_value(c.dtype, c.values, head + slot * c.head_dim + d);
    }
  }
}

KvCache::KvCache(const KvShape& shape, int64_t n_blocks)
    : shape_(shape),
      n_blocks_(n_blocks),
      half_layer_bytes_(n_blocks * shape.n_kv_heads * shape.head_dim * kKvBlockTokens *
                        bytes_per_value(shape.dtype)) {
  ISOBIT_REQUIRE(n_blocks > 0);
  const size_t n_bytes = static_cast<size_t>(size_bytes());
  // Not cleared: pages become resident when a sequence first writes them.
  pool_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (n_bytes + 63) / 64 * 64)));
  if (!pool_) {
    throw Error(ErrorCode::environment,
                "cannot allocate " + std::to_string(n_bytes >> 20) + " MiB for the KV cache",
                "lower the concurrency or the prompt and output lengths");
  }
  for (int64_t b = n_blocks - 1; b >= 0; --b) free_.push_back(static_cast<int32_t>(b));
}

int64_t KvCache::size_bytes() const {
  return shape_.n_layers * 2 * half_layer_bytes_;
}

std::vector<int32_t> KvCache::take_blocks(int64_t n) {
  ISOBIT_REQUIRE(n <= n_free_blocks());
  std::vector<int32_t> taken(free_.rbegin(), free_.rbegin() + n);
  free_.resize(free_.size() - static_cast<size_t>(n));
  return taken;
}

void KvCache::give_back(const std::vector<int32_t>& blocks) {
  free_.insert(free_.end(), blocks.rbegin(), blocks.rend());
}

KvLayerView KvCache::layer(int64_t index) {
  std::byte* keys = pool_.get() + index * 2 * half_layer_bytes_;
  return {.dtype = shape_.dtype,
          .n_kv_heads = shape_.n_kv_heads,
          .head_dim = shape_.head_dim,
          .keys = keys,
          .values = keys + half_layer_bytes_};
}

}  // namespace isobit

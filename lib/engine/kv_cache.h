// The paged key/value cache: a pool of blocks of kKvBlockTokens positions, and the block table of
// each sequence.
//
// A sequence reserves, when it is admitted, every block that its prompt and its longest answer can
// need; so nothing is ever evicted, and which blocks it gets (an accident of traffic) has no
// influence on any result: kernels read through the table. Blocks are handed out again without
// being cleared: what stands beyond a sequence's last position is never read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/ops.h"

namespace isobit {

struct KvShape {
  int64_t n_layers = 0;
  int64_t n_kv_heads = 0;
  int64_t head_dim = 0;
  KvDType dtype = KvDType::kF16;
};

int64_t bytes_per_value(KvDType dtype);
const char* name(KvDType dtype);  // "f16", "f32", "bf16"

// Keys, then values, of one position as f32, each (n_kv_heads, head_dim): the stored numbers
// exactly.
void read_kv_entry(const KvLayerView& cache, int64_t block, int64_t slot, float* out);

class KvCache {
 public:
  KvCache(const KvShape& shape, int64_t n_blocks);

  int64_t n_blocks() const { return n_blocks_; }
  int64_t n_free_blocks() const { return static_cast<int64_t>(free_.size()); }
  static int64_t blocks_for(int64_t n_tokens) {
    return (n_tokens + kKvBlockTokens - 1) / kKvBlockTokens;
  }

  // REQUIRES: n <= n_free_blocks().
  std::vector<int32_t> take_blocks(int64_t n);
  void give_back(const std::vector<int32_t>& blocks);

  KvLayerView layer(int64_t index);
  int64_t size_bytes() const;

 private:
  struct Free {
    void operator()(std::byte* at) const;
  };

  KvShape shape_;
  int64_t n_blocks_;
  int64_t half_layer_bytes_;               // keys, or values, of one layer
  std::unique_ptr<std::byte, Free> pool_;  // (n_layers, keys then values, n_blocks, ...)
  std::vector<int32_t> free_;              // a stack
};

}  // namespace isobit

// Random Llama-style checkpoints in memory, with the awkward sizes that real ones do not have.
// Seeded: the same seed makes the same weights on every machine (splitmix64 and exact arithmetic
// only).
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "tensor/half.h"

namespace isobit::testing {

struct RandomSizes {
  int64_t hidden_size = 160;        // one leaf of 128 and a ragged one of 32
  int64_t intermediate_size = 352;  // gcd(heads 4, 352, 24) = 4 -> 88 is no multiple of 32 -> R = 1
  int64_t n_layers = 2;
  int64_t n_heads = 4;
  int64_t n_kv_heads = 2;
  int64_t head_dim = 20;
  int64_t vocab_size = 307;
  int64_t max_positions = 1024;
  bool tied_head = true;
  bool qkv_bias = false;
  DType dtype = DType::kF32;  // kF32, kF16 or kBF16
};

class RandomCheckpoint : public Checkpoint {
 public:
  explicit RandomCheckpoint(const RandomSizes& sizes = {}, uint64_t seed = 1)
      : dtype_(sizes.dtype), state_(seed) {
    path_ = "random-" + std::to_string(seed);
    config_ = {.architecture = "llama",
               .hidden_size = sizes.hidden_size,
               .intermediate_size = sizes.intermediate_size,
               .n_layers = sizes.n_layers,
               .n_heads = sizes.n_heads,
               .n_kv_heads = sizes.n_kv_heads,
               .head_dim = sizes.head_dim,
               .vocab_size = sizes.vocab_size,
               .max_positions = sizes.max_positions,
               .rms_norm_eps = 1e-5,
               .rope_theta = 10000,
               .rope_factors = {},
               .tied_head = sizes.tied_head,
               .qkv_bias = sizes.qkv_bias,
               .bos_token_ids = {},
               .eos_token_ids = {}};
    const ModelConfig& c = config_;
    const int64_t q = c.n_heads * c.head_dim, kv = c.n_kv_heads * c.head_dim;
    add("model.embed_tokens.weight", {c.vocab_size, c.hidden_size}, 1.0f);
    if (!c.tied_head) add("lm_head.weight", {c.vocab_size, c.hidden_size}, 1.0f);
    add("model.norm.weight", {c.hidden_size}, 1.0f);
    for (int64_t i = 0; i < c.n_layers; ++i) {
      const std::string p = "model.layers." + std::to_string(i) + ".";
      add(p + "input_layernorm.weight", {c.hidden_size}, 1.0f);
      add(p + "post_attention_layernorm.weight", {c.hidden_size}, 1.0f);
      add(p + "self_attn.q_proj.weight", {q, c.hidden_size}, 0.2f);
      add(p + "self_attn.k_proj.weight", {kv, c.hidden_size}, 0.2f);
      add(p + "self_attn.v_proj.weight", {kv, c.hidden_size}, 0.2f);
      add(p + "self_attn.o_proj.weight", {c.hidden_size, q}, 0.2f);
      add(p + "mlp.gate_proj.weight", {c.intermediate_size, c.hidden_size}, 0.2f);
      add(p + "mlp.up_proj.weight", {c.intermediate_size, c.hidden_size}, 0.2f);
      add(p + "mlp.down_proj.weight", {c.hidden_size, c.intermediate_size}, 0.2f);
      if (!c.qkv_bias) continue;
      add(p + "self_attn.q_proj.bias", {q}, 0.5f);
      add(p + "self_attn.k_proj.bias", {kv}, 0.5f);
      add(p + "self_attn.v_proj.bias", {kv}, 0.5f);
    }
  }

  void release(const TensorView&) const override {}
  void release(std::span<const std::byte>) const override {}
  ModelConfig& mutable_config() { return config_; }
  std::map<std::string, TensorView>& mutable_tensors() { return tensors_; }

 private:
  float next(float scale) {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return scale * (static_cast<float>(z >> 40) * 0x1p-23f - 1.0f);
  }

  void add(const std::string& name, std::vector<int64_t> shape, float scale) {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    std::vector<std::byte>& bytes = storage_.emplace_back();
    const bool wide = dtype_ == DType::kF32;
    bytes.resize(static_cast<size_t>(n) * (wide ? 4 : 2));
    for (int64_t i = 0; i < n; ++i) {
      const float v = next(scale);
      const uint16_t h = dtype_ == DType::kF16 ? f16_from_f32(v) : bf16_from_f32(v);
      if (wide)
        std::memcpy(bytes.data() + i * 4, &v, 4);
      else
        std::memcpy(bytes.data() + i * 2, &h, 2);
    }
    tensors_[name] = {.name = name,
                      .dtype = dtype_,
                      .shape = std::move(shape),
                      .bytes = bytes,
                      .row_order = RowOrder::kAsStored,
                      .head_dim = 0};
  }

  DType dtype_;
  uint64_t state_;
  std::vector<std::vector<std::byte>>
      storage_;  // moved vectors keep their buffers, so views stay valid
};

}  // namespace isobit::testing

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
  DType dtype = DType::kF32;  // any of engine_supports(); vectors of a quantised one are kF32
};

class RandomCheckpoint : public Checkpoint {
 public:
  explicit RandomCheckpoint(const RandomSizes& sizes = {}, uint64_t seed = 1)
      : dtype_(sizes.dtype), state_(seed) {
    path_ = "random-" + std::to_string(seed);
    config_.architecture = "llama";
    config_.hidden_size = sizes.hidden_size;
    config_.intermediate_size = sizes.intermediate_size;
    config_.n_layers = sizes.n_layers;
    config_.n_heads = sizes.n_heads;
    config_.n_kv_heads = sizes.n_kv_heads;
    config_.head_dim = sizes.head_dim;
    config_.vocab_size = sizes.vocab_size;
    config_.max_positions = sizes.max_positions;
    config_.tied_head = sizes.tied_head;
    config_.qkv_bias = sizes.qkv_bias;
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
  uint64_t next_bits() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  float next(float scale) {
    return scale * (static_cast<float>(next_bits() >> 40) * 0x1p-23f - 1.0f);
  }

  static void put_element(std::byte* p, DType dtype, float v) {
    const uint16_t h = dtype == DType::kF16 ? f16_from_f32(v) : bf16_from_f32(v);
    if (dtype == DType::kF32)
      std::memcpy(p, &v, 4);
    else
      std::memcpy(p, &h, 2);
  }

  // Random quants under scales that keep every weight within about +-scale.
  void put_block(std::byte* block, float scale) {
    for (size_t i = 0; i < traits(dtype_).block_bytes; ++i)
      block[i] = static_cast<std::byte>(next_bits() >> 56);
    const auto put_scale = [&](size_t at, float largest) {
      put_element(block + at, DType::kF16, largest * (0.75f + next(0.25f)));
    };
    switch (dtype_) {
      case DType::kQ8_0:
        return put_scale(0, scale / 128);
      case DType::kQ4_0:
        return put_scale(0, scale / 8);
      case DType::kQ4_1:
        put_scale(0, scale / 8);
        return put_scale(2, -scale);
      case DType::kQ4_K:
        put_scale(0, scale / (8 * 64));
        return put_scale(2, scale / 64);
      default:  // kQ6_K
        return put_scale(208, scale / (128 * 32));
    }
  }

  void add(const std::string& name, std::vector<int64_t> shape, float scale) {
    const DType dtype = traits(dtype_).quantised && shape.size() == 1 ? DType::kF32 : dtype_;
    size_t n = 1;
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    std::vector<std::byte>& bytes = storage_.emplace_back();
    const auto [dtype_name, block_elems, block_bytes, quantised] = traits(dtype);
    bytes.resize(n / block_elems * block_bytes);
    for (size_t at = 0; at < bytes.size(); at += block_bytes) {
      if (quantised)
        put_block(bytes.data() + at, scale);
      else
        put_element(bytes.data() + at, dtype, next(scale));
    }
    tensors_[name] = {.name = name,
                      .dtype = dtype,
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

// How Hugging Face names the tensors of each architecture: what the check of a checkpoint expects
// and what the engine asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"

namespace isobit {

// Norms of one layer; empty where the model has none. A norm "after" is on the output of attention
// or MLP.
struct LayerNormNames {
  std::string attention, attention_after, mlp, mlp_after;
};
LayerNormNames layer_norm_names(const ModelConfig& config, int64_t layer);

// "model.layers.3." + rest
std::string layer_tensor_name(int64_t layer, const std::string& rest);

// Whether q, k and v are one stored matrix ("self_attn.qkv_proj.weight"), and gate and up too.
bool has_fused_projections(const ModelConfig& config);

// The router's matrix, (n_experts, hidden_size).
std::string router_name(const ModelConfig& config, int64_t layer);

struct ExpertNames {
  std::string gate, up, down;
};
ExpertNames expert_names(const ModelConfig& config, int64_t layer, int64_t expert);

}  // namespace isobit

#include "checkpoint/tensor_names.h"

namespace isobit {
namespace {

bool is_mixtral(const ModelConfig& config) {
  return config.architecture == "mixtral";
}

}  // namespace

std::string layer_tensor_name(int64_t layer, const std::string& rest) {
  return "model.layers." + std::to_string(layer) + "." + rest;
}

LayerNormNames layer_norm_names(const ModelConfig& config, int64_t layer) {
  const auto named = [&](const char* rest) { return layer_tensor_name(layer, rest); };
  LayerNormNames names;
  if (config.norms_before) {
    names.attention = named("input_layernorm.weight");
    // The older name says where it stands in a layer that has no norm after attention.
    names.mlp = named(config.norms_after ? "pre_feedforward_layernorm.weight"
                                         : "post_attention_layernorm.weight");
  }
  if (config.norms_after) {
    names.attention_after = named("post_attention_layernorm.weight");
    names.mlp_after = named("post_feedforward_layernorm.weight");
  }
  return names;
}

bool has_fused_projections(const ModelConfig& config) {
  return config.architecture == "phi3";
}

std::string router_name(const ModelConfig& config, int64_t layer) {
  return layer_tensor_name(layer,
                           is_mixtral(config) ? "block_sparse_moe.gate.weight" : "mlp.gate.weight");
}

ExpertNames expert_names(const ModelConfig& config, int64_t layer, int64_t expert) {
  const std::string folder = is_mixtral(config) ? "block_sparse_moe.experts." : "mlp.experts.";
  const std::string prefix = layer_tensor_name(layer, folder + std::to_string(expert) + ".");
  if (is_mixtral(config)) return {prefix + "w1.weight", prefix + "w3.weight", prefix + "w2.weight"};
  return {prefix + "gate_proj.weight", prefix + "up_proj.weight", prefix + "down_proj.weight"};
}

}  // namespace isobit

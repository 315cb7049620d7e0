// The goldens' models of other architectures than plain Llama: one of each, and of each option that
// changes the arithmetic. As in golden_models.h an entry never changes, and new ones are added at
// the end. Logits of such models against transformers: tests/engine/architectures_test.cc.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace isobit::testing {

struct GoldenArchitecture {
  std::string name;
  ModelConfig config;
  DType dtype = DType::kBF16;
};

inline const std::vector<int> kArchitecturePromptLengths = {1, 17, 140};

inline ModelConfig small_architecture(const std::string& name) {
  ModelConfig c;
  c.architecture = name;
  c.hidden_size = 104;
  c.intermediate_size = 152;
  c.n_layers = 3;
  c.n_heads = 4;
  c.n_kv_heads = 2;
  c.head_dim = 24;
  c.vocab_size = 131;
  c.max_positions = 256;
  c.rms_norm_eps = 1e-6;
  c.layers.resize(3);
  return c;
}

inline RopeConfig scaled_rope(RopeKind kind, double theta, double factor, double original) {
  RopeConfig rope;
  rope.kind = kind;
  rope.theta = theta;
  rope.factor = factor;
  rope.original_positions = original;
  return rope;
}

inline std::vector<GoldenArchitecture> golden_llamas() {
  ModelConfig llama3 = small_architecture("llama");
  llama3.ropes = {scaled_rope(RopeKind::kLlama3, 500000, 8, 64)};
  llama3.tied_head = true;
  ModelConfig yarn = small_architecture("llama");
  yarn.ropes = {scaled_rope(RopeKind::kYarn, 10000, 8, 32)};
  yarn.qkv_bias = yarn.attention_out_bias = yarn.mlp_bias = true;
  ModelConfig linear = small_architecture("llama");
  linear.ropes = {scaled_rope(RopeKind::kLinear, 10000, 4, 0)};
  ModelConfig window = small_architecture("mistral");
  for (LayerConfig& layer : window.layers) layer.window = 24;
  ModelConfig some_turned = small_architecture("smollm3");
  some_turned.layers[1].rope.reset();
  some_turned.tied_head = true;
  return {{"llama3", llama3},
          {"llama-yarn-bias", yarn},
          {"llama-linear", linear, DType::kF16},
          {"mistral-window", window},
          {"smollm3", some_turned}};
}

inline std::vector<GoldenArchitecture> golden_normed() {
  ModelConfig qwen3 = small_architecture("qwen3");
  qwen3.query_key_norm = QueryKeyNorm::kPerHead;
  ModelConfig olmo2 = small_architecture("olmo2");
  olmo2.query_key_norm = QueryKeyNorm::kAllHeads;
  olmo2.norms_before = false;
  olmo2.norms_after = true;
  ModelConfig phi3 = small_architecture("phi3");
  phi3.rotary_dim = 18;
  phi3.ropes = {scaled_rope(RopeKind::kLongrope, 10000, 8, 32)};
  phi3.ropes[0].long_or_short = {1, 1.118, 1.25, 1.7, 2.4, 3.1, 5.3, 7.7, 9.1};
  return {{"qwen3", qwen3}, {"qwen3-fp8", qwen3, DType::kF8E4M3}, {"olmo2", olmo2}, {"phi3", phi3}};
}

inline std::vector<GoldenArchitecture> golden_gemmas() {
  ModelConfig gemma2 = small_architecture("gemma2");
  gemma2.norms_after = gemma2.norm_adds_one = gemma2.scaled_embedding = gemma2.tied_head = true;
  gemma2.activation = Activation::kGeluTanh;
  gemma2.attention_multiplier = 1 / 4.0;  // query_pre_attn_scalar 16
  gemma2.layers[0].window = gemma2.layers[2].window = 24;
  ModelConfig gemma3 = gemma2;
  gemma3.architecture = "gemma3_text";
  gemma2.attention_soft_cap = 50;
  gemma2.final_soft_cap = 30;
  gemma3.query_key_norm = QueryKeyNorm::kPerHead;
  gemma3.ropes = {scaled_rope(RopeKind::kPlain, 10000, 1, 0),
                  scaled_rope(RopeKind::kLinear, 1000000, 8, 0)};
  gemma3.layers[1].rope = 1;
  ModelConfig erf = gemma3;
  erf.activation = Activation::kGeluErf;
  return {{"gemma2", gemma2}, {"gemma3", gemma3}, {"gemma3-gelu-erf", erf}};
}

inline std::vector<GoldenArchitecture> golden_mixtures() {
  ModelConfig mixtral = small_architecture("mixtral");
  mixtral.experts = {.n = 5, .top_k = 2, .width = 72, .renormalise = true};
  for (LayerConfig& layer : mixtral.layers) layer.has_experts = true;
  ModelConfig qwen3 = small_architecture("qwen3_moe");
  qwen3.query_key_norm = QueryKeyNorm::kPerHead;
  qwen3.experts = {.n = 8, .top_k = 3, .width = 40, .renormalise = false};
  qwen3.layers[0].has_experts = qwen3.layers[2].has_experts = true;
  return {{"mixtral", mixtral}, {"qwen3-moe", qwen3}};
}

inline std::vector<GoldenArchitecture> golden_architectures() {
  std::vector<GoldenArchitecture> all;
  for (const auto& group : {golden_llamas(), golden_normed(), golden_gemmas(), golden_mixtures()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace isobit::testing

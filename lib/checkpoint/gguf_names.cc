#include "checkpoint/gguf_names.h"

#include <string_view>

namespace isobit {
namespace {

struct Renamed {
  std::string_view gguf, hf;
};
constexpr Renamed kModelNames[] = {{"token_embd.weight", "model.embed_tokens.weight"},
                                   {"output_norm.weight", "model.norm.weight"},
                                   {"output.weight", "lm_head.weight"}};
constexpr Renamed kLayerNames[] = {
    {"attn_q.", "self_attn.q_proj."},      {"attn_k.", "self_attn.k_proj."},
    {"attn_v.", "self_attn.v_proj."},      {"attn_output.", "self_attn.o_proj."},
    {"attn_q_norm.", "self_attn.q_norm."}, {"attn_k_norm.", "self_attn.k_norm."},
    {"ffn_gate.", "mlp.gate_proj."},       {"ffn_up.", "mlp.up_proj."},
    {"ffn_down.", "mlp.down_proj."}};
constexpr Renamed kFusedNames[] = {{"attn_qkv.", "self_attn.qkv_proj."},
                                   {"ffn_up.", "mlp.gate_up_proj."}};

// A name inside a layer: "blk.3." and the rest.
struct InLayer {
  int64_t layer = 0;
  std::string rest;
};

std::optional<InLayer> in_layer(const std::string& name) {
  constexpr std::string_view kPrefix = "blk.";
  const size_t dot = name.find('.', kPrefix.size());
  if (!name.starts_with(kPrefix) || dot == std::string::npos) return std::nullopt;
  const std::string number = name.substr(kPrefix.size(), dot - kPrefix.size());
  const bool is_number = !number.empty() && number.size() < 10 &&
                         number.find_first_not_of("0123456789") == std::string::npos &&
                         (number == "0" || number[0] != '0');
  if (!is_number) return std::nullopt;
  return InLayer{std::stoll(number), name.substr(dot + 1)};
}

std::optional<std::string> norm_name(const InLayer& at, const ModelConfig& config) {
  const LayerNormNames names = layer_norm_names(config, at.layer);
  const struct {
    std::string_view gguf;
    const std::string& hf;
  } all[] = {{"attn_norm.weight", names.attention},
             {"post_attention_norm.weight", names.attention_after},
             {"ffn_norm.weight", names.mlp},
             {"post_ffw_norm.weight", names.mlp_after}};
  for (const auto& norm : all) {
    if (at.rest == norm.gguf && !norm.hf.empty()) return norm.hf;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> hf_name_of(const std::string& gguf_name, const ModelConfig& config) {
  for (const Renamed& r : kModelNames) {
    if (gguf_name == r.gguf) return std::string(r.hf);
  }
  const std::optional<InLayer> at = in_layer(gguf_name);
  if (!at) return std::nullopt;
  if (const auto norm = norm_name(*at, config)) return norm;
  if (at->rest == "ffn_gate_inp.weight" && config.experts.n > 0)
    return router_name(config, at->layer);
  const auto renamed = [&](const Renamed& r) {
    return layer_tensor_name(at->layer, std::string(r.hf) + at->rest.substr(r.gguf.size()));
  };
  if (has_fused_projections(config)) {
    for (const Renamed& r : kFusedNames) {
      if (at->rest.starts_with(r.gguf)) return renamed(r);
    }
  }
  for (const Renamed& r : kLayerNames) {
    if (at->rest.starts_with(r.gguf)) return renamed(r);
  }
  return std::nullopt;
}

std::optional<ExpertTensor> expert_tensor_of(const std::string& gguf_name) {
  const std::optional<InLayer> at = in_layer(gguf_name);
  if (!at) return std::nullopt;
  if (at->rest == "ffn_gate_exps.weight") return ExpertTensor{at->layer, &ExpertNames::gate};
  if (at->rest == "ffn_up_exps.weight") return ExpertTensor{at->layer, &ExpertNames::up};
  if (at->rest == "ffn_down_exps.weight") return ExpertTensor{at->layer, &ExpertNames::down};
  return std::nullopt;
}

}  // namespace isobit

#include "checkpoint/model_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "checkpoint/refusal.h"
#include "checkpoint/tensor_names.h"

namespace isobit {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMostPositions = int64_t{1} << 24;

constexpr int64_t kMostLayers = 10000;
constexpr int64_t kMostExperts = 10000;
constexpr int64_t kMostHeadDim = 65536;

// Looks tensors up by name and shape, and remembers which were asked for.
class TensorCheck {
 public:
  TensorCheck(const std::map<std::string, TensorView>& tensors, const std::string& where)
      : tensors_(tensors), where_(where) {}

  void matrix(const std::string& name, int64_t n_out, int64_t n_in) { expect(name, {n_out, n_in}); }
  void vector(const std::string& name, int64_t n) {
    const DType dtype = expect(name, {n}).dtype;
    if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
      refuse(where_, "tensor " + shown(name) + " is stored as " + std::string(isobit::name(dtype)) +
                         ", expected F32, F16 or BF16 for a norm or a bias");
    }
  }
  // A norm that the model may not have: no name.
  void norm(const std::string& name, int64_t n) {
    if (!name.empty()) vector(name, n);
  }
  bool was_expected(const std::string& name) const { return expected_.contains(name); }

 private:
  const TensorView& expect(const std::string& name, const Shape& shape) {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) {
      refuse(where_, "no tensor " + shown(name) + ", expected with shape " + shape_text(shape),
             "is a shard missing?");
    }
    if (it->second.shape != shape) {
      refuse(where_, "tensor " + shown(name) + " has shape " + shape_text(it->second.shape) +
                         ", but the configuration asks for " + shape_text(shape));
    }
    expected_.insert(name);
    return it->second;
  }

  const std::map<std::string, TensorView>& tensors_;
  const std::string& where_;
  std::set<std::string> expected_;
};

void check_attention(TensorCheck& check, const ModelConfig& c, const std::string& prefix) {
  const int64_t q_width = c.n_heads * c.head_dim, kv_width = c.n_kv_heads * c.head_dim;
  const std::string at = prefix + "self_attn.";
  const struct {
    const char* name;
    int64_t width;
  } all[] = {{"q_proj", q_width}, {"k_proj", kv_width}, {"v_proj", kv_width}};
  if (has_fused_projections(c)) {
    check.matrix(at + "qkv_proj.weight", q_width + 2 * kv_width, c.hidden_size);
  } else {
    for (const auto& [name, width] : all) check.matrix(at + name + ".weight", width, c.hidden_size);
  }
  if (c.qkv_bias) {
    for (const auto& [name, width] : all) check.vector(at + name + ".bias", width);
  }
  check.matrix(at + "o_proj.weight", c.hidden_size, q_width);
  if (c.attention_out_bias) check.vector(at + "o_proj.bias", c.hidden_size);
  if (c.query_key_norm == QueryKeyNorm::kNone) return;
  const bool per_head = c.query_key_norm == QueryKeyNorm::kPerHead;
  check.vector(at + "q_norm.weight", per_head ? c.head_dim : q_width);
  check.vector(at + "k_norm.weight", per_head ? c.head_dim : kv_width);
}

void check_dense_mlp(TensorCheck& check, const ModelConfig& c, const std::string& prefix) {
  if (has_fused_projections(c)) {
    check.matrix(prefix + "mlp.gate_up_proj.weight", 2 * c.intermediate_size, c.hidden_size);
  } else {
    check.matrix(prefix + "mlp.gate_proj.weight", c.intermediate_size, c.hidden_size);
    check.matrix(prefix + "mlp.up_proj.weight", c.intermediate_size, c.hidden_size);
  }
  check.matrix(prefix + "mlp.down_proj.weight", c.hidden_size, c.intermediate_size);
  if (!c.mlp_bias) return;
  check.vector(prefix + "mlp.gate_proj.bias", c.intermediate_size);
  check.vector(prefix + "mlp.up_proj.bias", c.intermediate_size);
  check.vector(prefix + "mlp.down_proj.bias", c.hidden_size);
}

void check_experts(TensorCheck& check, const ModelConfig& c, int64_t layer) {
  check.matrix(router_name(c, layer), c.experts.n, c.hidden_size);
  for (int64_t e = 0; e < c.experts.n; ++e) {
    const ExpertNames names = expert_names(c, layer, e);
    check.matrix(names.gate, c.experts.width, c.hidden_size);
    check.matrix(names.up, c.experts.width, c.hidden_size);
    check.matrix(names.down, c.hidden_size, c.experts.width);
  }
}

void check_layer(TensorCheck& check, const ModelConfig& c, int64_t layer) {
  const std::string prefix = layer_tensor_name(layer, "");
  const LayerNormNames norms = layer_norm_names(c, layer);
  check.norm(norms.attention, c.hidden_size);
  check_attention(check, c, prefix);
  check.norm(norms.attention_after, c.hidden_size);
  check.norm(norms.mlp, c.hidden_size);
  c.layer(layer).has_experts ? check_experts(check, c, layer) : check_dense_mlp(check, c, prefix);
  check.norm(norms.mlp_after, c.hidden_size);
}

// Old exports carry the rotary frequencies as a buffer of every layer; they are computed from the
// configuration instead.
bool is_ignored_buffer(const std::string& name) {
  return name.ends_with(".self_attn.rotary_emb.inv_freq");
}

bool is_ignored_part(const ModelConfig& config, const std::string& name) {
  return std::any_of(config.ignored_prefixes.begin(), config.ignored_prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

void check_nothing_else(const TensorCheck& check, const ModelConfig& config,
                        const std::map<std::string, TensorView>& tensors,
                        const std::string& where) {
  std::set<const TensorView*> scales;  // of FP8 weights
  for (const auto& [unused, view] : tensors) scales.insert(view.scales);
  for (const auto& [name, view] : tensors) {
    const bool known = check.was_expected(name) || name == "lm_head.weight" ||
                       is_ignored_buffer(name) || is_ignored_part(config, name) ||
                       scales.contains(&view);
    if (!known) {
      refuse(where,
             "tensor " + shown(name) + " is not part of a " + config.architecture + " model of " +
                 std::to_string(config.n_layers) + " layers",
             "the configuration and the weights do not belong together, or the model has a part "
             "that this version cannot compute");
    }
  }
}

bool same_bytes(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         std::memcmp(a.bytes.data(), b.bytes.data(), b.bytes.size()) == 0;
}

void check_tied_head(const std::map<std::string, TensorView>& tensors, const std::string& where) {
  const auto head = tensors.find("lm_head.weight");
  if (head == tensors.end()) return;
  const TensorView& embedding = tensors.at("model.embed_tokens.weight");
  const TensorView *of_head = head->second.scales, *of_embedding = embedding.scales;
  const bool same_scales = of_head == nullptr || of_embedding == nullptr
                               ? of_head == of_embedding
                               : same_bytes(*of_head, *of_embedding);
  if (!same_bytes(head->second, embedding) || !same_scales) {
    refuse(where,
           "tie_word_embeddings is true, but 'lm_head.weight' is stored and differs from "
           "'model.embed_tokens.weight'",
           "set tie_word_embeddings to what the model was trained with");
  }
}

bool is_positive_f32(double value) {
  const auto rounded = static_cast<float>(value);
  return std::isfinite(rounded) && rounded > 0;
}

// Positions that no f32 can tell apart, or that turn by an infinite angle, make every answer NaN.
void check_rope(const RopeConfig& rope, int64_t rotary_elems, const std::string& where) {
  if (!(rope.theta >= 1 && rope.theta <= 1e12))
    refuse(where, "rope_theta is " + std::to_string(rope.theta) + ", expected 1 to 1e12");
  if (rotary_elems < 2 || rotary_elems % 2 != 0) return;  // said of head_dim
  const std::vector<float> frequencies = rope_inverse_frequencies(rope, rotary_elems);
  const bool usable = std::all_of(frequencies.begin(), frequencies.end(),
                                  [](float f) { return is_positive_f32(f) && f <= 1e6f; });
  if (!usable || !is_positive_f32(rope_attention_factor(rope))) {
    refuse(where, "the scaling of rotary positions gives no usable angles",
           "its factors do not belong together, or to this rope_theta and context");
  }
}

void check_scales(const ModelConfig& c, const std::string& where) {
  const struct {
    const char* name;
    double value;
  } all[] = {{"attn_logit_softcapping", c.attention_soft_cap},
             {"final_logit_softcapping", c.final_soft_cap},
             {"the multiplier of attention scores", c.attention_multiplier.value_or(0)}};
  for (const auto& [name, value] : all) {
    const double log2_e = 1.5;  // a little more: scores are in base 2
    if (value != 0 && !(is_positive_f32(value) && is_positive_f32(value * log2_e)))
      refuse(where, std::string(name) + " is " + std::to_string(value) +
                        ", which no f32 can hold or divide by");
  }
}

void check_experts_config(const ExpertsConfig& experts, const std::string& where) {
  if (experts.n == 0) return;
  if (experts.n < 0 || experts.n > kMostExperts)
    refuse(where, "num_experts is " + std::to_string(experts.n) + ", expected 1 to " +
                      std::to_string(kMostExperts));
  if (experts.top_k < 1 || experts.top_k > experts.n)
    refuse(where, "num_experts_per_tok is " + std::to_string(experts.top_k) + ", expected 1 to " +
                      std::to_string(experts.n));
  if (experts.width <= 0 || experts.width > INT32_MAX)
    refuse(where, "the experts' intermediate size is " + std::to_string(experts.width) +
                      ", expected 1 to 2147483647");
}

}  // namespace

void check_sizes(const ModelConfig& c, const std::string& where) {
  const struct {
    const char* name;
    int64_t value;
  } sizes[] = {{"hidden_size", c.hidden_size},        {"intermediate_size", c.intermediate_size},
               {"num_hidden_layers", c.n_layers},     {"num_attention_heads", c.n_heads},
               {"num_key_value_heads", c.n_kv_heads}, {"head_dim", c.head_dim},
               {"vocab_size", c.vocab_size},          {"max_position_embeddings", c.max_positions}};
  for (const auto& size : sizes) {
    if (size.value <= 0 || size.value > INT32_MAX) {
      refuse(where, std::string(size.name) + " is " + std::to_string(size.value) +
                        ", expected 1 to 2147483647");
    }
  }
  if (c.n_layers > kMostLayers)
    refuse(where, "num_hidden_layers is " + std::to_string(c.n_layers) + ", expected at most " +
                      std::to_string(kMostLayers));
  if (c.max_positions > kMostPositions)
    refuse(where, "max_position_embeddings is " + std::to_string(c.max_positions) +
                      ", more than the " + std::to_string(kMostPositions) +
                      " that f32 positions tell apart");
  if (c.n_heads % c.n_kv_heads != 0) {
    refuse(where, std::to_string(c.n_heads) + " query heads cannot share " +
                      std::to_string(c.n_kv_heads) + " KV heads evenly");
  }
  if (c.head_dim > kMostHeadDim)
    refuse(where, "head_dim is " + std::to_string(c.head_dim) + ", expected at most " +
                      std::to_string(kMostHeadDim));
  if (c.head_dim % 2 != 0)
    refuse(where, "head_dim is " + std::to_string(c.head_dim) + ", expected an even number");
  if (!(c.rms_norm_eps > 0 && c.rms_norm_eps < 1))
    refuse(where, "rms_norm_eps is " + std::to_string(c.rms_norm_eps) +
                      ", expected a small positive number");
  for (const RopeConfig& rope : c.ropes) check_rope(rope, c.rotary_elems(), where);
  check_scales(c, where);
  check_experts_config(c.experts, where);
  for (const auto* ids : {&c.bos_token_ids, &c.eos_token_ids}) {
    for (const int32_t id : *ids) {
      if (id < 0 || id >= c.vocab_size) {
        refuse(where, "special token id " + std::to_string(id) + " is outside the vocabulary of " +
                          std::to_string(c.vocab_size));
      }
    }
  }
}

void check_tensors(const ModelConfig& config, const std::map<std::string, TensorView>& tensors,
                   const std::string& where) {
  TensorCheck check(tensors, where);
  check.matrix("model.embed_tokens.weight", config.vocab_size, config.hidden_size);
  for (int64_t layer = 0; layer < config.n_layers; ++layer) check_layer(check, config, layer);
  check.vector("model.norm.weight", config.hidden_size);
  if (config.tied_head) {
    check_tied_head(tensors, where);
  } else {
    check.matrix("lm_head.weight", config.vocab_size, config.hidden_size);
  }
  check_nothing_else(check, config, tensors, where);
}

}  // namespace isobit

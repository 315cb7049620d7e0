#include "checkpoint/model_tensors.h"

#include <cstring>
#include <set>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMostPositions = int64_t{1} << 24;

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
  size_t n_checked() const { return n_checked_; }

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
    ++n_checked_;
    return it->second;
  }

  const std::map<std::string, TensorView>& tensors_;
  const std::string& where_;
  size_t n_checked_ = 0;
};

void check_layer(TensorCheck& check, const ModelConfig& c, int64_t layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const int64_t q_width = c.n_heads * c.head_dim, kv_width = c.n_kv_heads * c.head_dim;
  check.vector(prefix + "input_layernorm.weight", c.hidden_size);
  check.matrix(prefix + "self_attn.q_proj.weight", q_width, c.hidden_size);
  check.matrix(prefix + "self_attn.k_proj.weight", kv_width, c.hidden_size);
  check.matrix(prefix + "self_attn.v_proj.weight", kv_width, c.hidden_size);
  if (c.qkv_bias) {
    check.vector(prefix + "self_attn.q_proj.bias", q_width);
    check.vector(prefix + "self_attn.k_proj.bias", kv_width);
    check.vector(prefix + "self_attn.v_proj.bias", kv_width);
  }
  check.matrix(prefix + "self_attn.o_proj.weight", c.hidden_size, q_width);
  check.vector(prefix + "post_attention_layernorm.weight", c.hidden_size);
  check.matrix(prefix + "mlp.gate_proj.weight", c.intermediate_size, c.hidden_size);
  check.matrix(prefix + "mlp.up_proj.weight", c.intermediate_size, c.hidden_size);
  check.matrix(prefix + "mlp.down_proj.weight", c.hidden_size, c.intermediate_size);
}

bool is_layer_tensor(const std::string& name, const ModelConfig& config) {
  static const std::string kPrefix = "model.layers.";
  static const std::set<std::string> kWeights = {
      "input_layernorm.weight",  "self_attn.q_proj.weight", "self_attn.k_proj.weight",
      "self_attn.v_proj.weight", "self_attn.o_proj.weight", "post_attention_layernorm.weight",
      "mlp.gate_proj.weight",    "mlp.up_proj.weight",      "mlp.down_proj.weight"};
  static const std::set<std::string> kBiases = {"self_attn.q_proj.bias", "self_attn.k_proj.bias",
                                                "self_attn.v_proj.bias"};
  if (!name.starts_with(kPrefix)) return false;
  const size_t dot = name.find('.', kPrefix.size());
  if (dot == std::string::npos || dot - kPrefix.size() > 9) return false;
  const std::string number = name.substr(kPrefix.size(), dot - kPrefix.size()),
                    rest = name.substr(dot + 1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return false;
  const int64_t layer = std::stoll(number);
  return std::to_string(layer) == number && layer < config.n_layers &&
         (kWeights.contains(rest) || (config.qkv_bias && kBiases.contains(rest)));
}

// Old exports carry the rotary frequencies as a buffer of every layer; they are computed from the
// configuration instead.
bool is_ignored_buffer(const std::string& name) {
  return name.ends_with(".self_attn.rotary_emb.inv_freq");
}

void check_nothing_else(const ModelConfig& config, const std::map<std::string, TensorView>& tensors,
                        const std::string& where) {
  for (const auto& [name, view] : tensors) {
    const bool known = name == "model.embed_tokens.weight" || name == "model.norm.weight" ||
                       name == "lm_head.weight" || is_layer_tensor(name, config) ||
                       is_ignored_buffer(name);
    if (!known) {
      refuse(where,
             "tensor " + shown(name) + " is not part of a " + config.architecture + " model of " +
                 std::to_string(config.n_layers) + " layers",
             "the configuration and the weights do not belong together, or the model has a part "
             "that this version cannot compute");
    }
  }
}

void check_tied_head(const std::map<std::string, TensorView>& tensors, const std::string& where) {
  const auto head = tensors.find("lm_head.weight");
  if (head == tensors.end()) return;
  const TensorView& embedding = tensors.at("model.embed_tokens.weight");
  const bool same =
      head->second.dtype == embedding.dtype && head->second.shape == embedding.shape &&
      std::memcmp(head->second.bytes.data(), embedding.bytes.data(), embedding.bytes.size()) == 0;
  if (!same) {
    refuse(where,
           "tie_word_embeddings is true, but 'lm_head.weight' is stored and differs from "
           "'model.embed_tokens.weight'",
           "set tie_word_embeddings to what the model was trained with");
  }
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
  if (c.max_positions > kMostPositions)
    refuse(where, "max_position_embeddings is " + std::to_string(c.max_positions) +
                      ", more than the " + std::to_string(kMostPositions) +
                      " that f32 positions tell apart");
  if (c.n_heads % c.n_kv_heads != 0) {
    refuse(where, std::to_string(c.n_heads) + " query heads cannot share " +
                      std::to_string(c.n_kv_heads) + " KV heads evenly");
  }
  if (c.head_dim % 2 != 0)
    refuse(where, "head_dim is " + std::to_string(c.head_dim) + ", expected an even number");
  if (!(c.rms_norm_eps > 0 && c.rms_norm_eps < 1))
    refuse(where, "rms_norm_eps is " + std::to_string(c.rms_norm_eps) +
                      ", expected a small positive number");
  if (!(c.rope_theta >= 1 && c.rope_theta <= 1e12))
    refuse(where, "rope_theta is " + std::to_string(c.rope_theta) + ", expected 1 to 1e12");
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
  check_nothing_else(config, tensors, where);
}

}  // namespace isobit

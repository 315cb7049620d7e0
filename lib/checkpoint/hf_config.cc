#include "checkpoint/hf_config.h"

#include <algorithm>
#include <cmath>

#include "checkpoint/hf_family.h"
#include "checkpoint/hf_layers.h"
#include "checkpoint/hf_rope.h"
#include "checkpoint/model_tensors.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

// Sizes of the attention. Checked for sense by check_sizes().
void read_sizes(const ConfigFields& fields, const HfFamily& family, ModelConfig& config) {
  config.hidden_size = fields.required_integer("hidden_size");
  config.intermediate_size = fields.required_integer("intermediate_size");
  config.n_layers = fields.required_integer("num_hidden_layers");
  config.n_heads = fields.required_integer("num_attention_heads");
  config.n_kv_heads = fields.integer("num_key_value_heads").value_or(config.n_heads);
  config.vocab_size = fields.required_integer("vocab_size");
  config.max_positions = fields.required_integer("max_position_embeddings");
  if (const auto head_dim = fields.integer("head_dim")) {
    config.head_dim = *head_dim;
  } else if (family.head_dim > 0) {
    config.head_dim = family.head_dim;
  } else {
    if (config.n_heads <= 0 || config.hidden_size % config.n_heads != 0) {
      refuse(fields.where(), "hidden_size " + std::to_string(config.hidden_size) +
                                 " is not a multiple of num_attention_heads " +
                                 std::to_string(config.n_heads) + ", and there is no head_dim");
    }
    config.head_dim = config.hidden_size / config.n_heads;
  }
}

void read_activation(const ConfigFields& fields, ModelConfig& config) {
  static constexpr struct {
    const char* name;
    Activation activation;
  } kNames[] = {{"silu", Activation::kSilu},
                {"swish", Activation::kSilu},
                {"gelu_pytorch_tanh", Activation::kGeluTanh},
                {"gelu", Activation::kGeluErf}};
  // Gemma's code reads hidden_activation only; its files carry hidden_act as well, with other
  // values.
  const bool is_gemma = config.norm_adds_one;
  const char* key = is_gemma ? "hidden_activation" : "hidden_act";
  const std::optional<std::string> name = fields.string(key);
  if (!name) return;
  for (const auto& known : kNames) {
    if (*name == known.name) {
      config.activation = known.activation;
      return;
    }
  }
  refuse(fields.where(), std::string(key) + " " + shown(*name) + " is not supported",
         "this version computes silu, gelu_pytorch_tanh and gelu");
}

void read_biases(const ConfigFields& fields, ModelConfig& config) {
  const std::string& type = config.architecture;
  const bool ignores_attention =
      type == "qwen2" || type == "mistral" || type == "mixtral" || type == "phi3";
  if (fields.boolean("attention_bias", false) && !ignores_attention)
    config.qkv_bias = config.attention_out_bias = true;
  if (fields.boolean("mlp_bias", false) && (type == "llama" || type == "smollm3"))
    config.mlp_bias = true;
}

void read_gemma(const ConfigFields& fields, ModelConfig& config) {
  const bool caps = config.architecture == "gemma2";
  const auto cap = [&](const char* key, double otherwise) {
    return fields.states(key) ? fields.positive(key).value_or(0) : otherwise;
  };
  config.attention_soft_cap = cap("attn_logit_softcapping", caps ? 50 : 0);
  config.final_soft_cap = cap("final_logit_softcapping", caps ? 30 : 0);
  config.attention_multiplier =
      1.0 / std::sqrt(fields.positive("query_pre_attn_scalar").value_or(256));
  if (fields.boolean("use_bidirectional_attention", false))
    refuse(fields.where(), "use_bidirectional_attention is true: such a model does not generate");
}

void check_dtype_names(const ConfigFields& fields) {
  const auto dtype = fields.string("dtype"), old_dtype = fields.string("torch_dtype");
  if (dtype && old_dtype && *dtype != *old_dtype) {
    refuse(fields.where(),
           "dtype is " + shown(*dtype) + ", but torch_dtype is " + shown(*old_dtype));
  }
}

// FP8 of transformers has scales beside its weights; what else is quantised has another layout.
void check_quantisation(const ConfigFields& fields) {
  const Json* quantisation = fields.object_at("quantization_config");
  if (!quantisation) return;
  const ConfigFields q(*quantisation, fields.where() + ": quantization_config");
  const std::string method = q.string("quant_method").value_or("an unnamed method");
  if (method != "fp8") {
    refuse(fields.where(), "weights quantised by " + shown(method) + " are not supported",
           "this version reads FP8 (quant_method 'fp8') and the block types of GGUF");
  }
  if (q.string("activation_scheme").value_or("dynamic") == "static") {
    refuse(q.where(), "activation_scheme is 'static': scales of activations are not supported");
  }
}

ModelConfig read_text_config(const ConfigFields& fields) {
  const HfFamily& family = read_family(fields);
  ModelConfig config;
  apply_family(family, config);
  read_sizes(fields, family, config);
  const std::optional<double> eps = fields.real("rms_norm_eps");
  if (!eps) refuse(fields.where(), "no rms_norm_eps");
  config.rms_norm_eps = *eps;
  check_sizes(config, fields.where());
  read_activation(fields, config);
  read_biases(fields, config);
  if (config.norm_adds_one) read_gemma(fields, config);
  check_dtype_names(fields);
  check_quantisation(fields);
  read_ropes(fields, family, config);
  read_layers(fields, family, config);
  config.tied_head = fields.boolean("tie_word_embeddings", family.ties_head);
  config.bos_token_ids = fields.token_ids("bos_token_id");
  config.eos_token_ids = fields.token_ids("eos_token_id");
  return config;
}

// Gemma 3 with eyes: its text model is that of text_config, its end-of-sequence ids are outside.
ModelConfig read_with_vision(const ConfigFields& fields) {
  const Json* text = fields.object_at("text_config");
  if (!text) refuse(fields.where(), "no text_config");
  Json merged = *text;
  merged["model_type"] = "gemma3_text";
  merged.erase("architectures");
  for (const char* key :
       {"bos_token_id", "eos_token_id", "tie_word_embeddings", "quantization_config"}) {
    if (const Json* outer = fields.find(key)) merged[key] = *outer;
  }
  // The sizes that the 4B's file leaves to its class.
  const struct {
    const char* key;
    Json value;
  } defaults[] = {{"num_attention_heads", 8},
                  {"num_key_value_heads", 4},
                  {"vocab_size", 262208},
                  {"rms_norm_eps", 1e-6},
                  {"max_position_embeddings", 131072}};
  for (const auto& [key, value] : defaults) {
    if (!merged.contains(key)) merged[key] = value;
  }
  ModelConfig config = read_text_config(ConfigFields(merged, fields.where() + ": text_config"));
  config.ignored_prefixes = {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                             "model.multi_modal_projector."};
  return config;
}

}  // namespace

ModelConfig read_hf_config(const Json& json, const std::string& where) {
  const ConfigFields fields(json, where);
  if (fields.string("model_type") == "gemma3") return read_with_vision(fields);
  return read_text_config(fields);
}

void merge_generation_config(const Json& json, ModelConfig& config, const std::string& where) {
  for (const int32_t id : ConfigFields(json, where).token_ids("eos_token_id")) {
    auto& ids = config.eos_token_ids;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
}

}  // namespace isobit

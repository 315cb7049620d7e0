#include <algorithm>
#include <cmath>

#include "checkpoint/gguf_checkpoint.h"
#include "checkpoint/gguf_keys.h"
#include "checkpoint/gguf_layers.h"
#include "checkpoint/gguf_rope.h"
#include "checkpoint/model_tensors.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

void refuse_other_kinds(const GgufFile& file) {
  const std::string_view type = file.string("general.type").value_or("model");
  if (type != "model")
    refuse(file.where(), "general.type is " + shown(type) + ", expected 'model'",
           "a part of a model cannot be run alone");
  const bool quantised =
      std::any_of(file.tensors().begin(), file.tensors().end(),
                  [](const StoredTensor& t) { return !t.dtype || traits(*t.dtype).quantised; });
  const std::optional<uint64_t> version = file.count("general.quantization_version");
  if (quantised && version != 2) {
    refuse(file.where(), "general.quantization_version is " +
                             (version ? std::to_string(*version) : "absent") +
                             ", expected 2: the meaning of the quantised blocks depends on it");
  }
}

struct GgufFamily {
  const char* name;          // general.architecture
  const char* architecture;  // Hugging Face's
};
constexpr GgufFamily kFamilies[] = {
    {"llama", "llama"},        {"qwen2", "qwen2"},   {"qwen3", "qwen3"},
    {"qwen3moe", "qwen3_moe"}, {"gemma2", "gemma2"}, {"gemma3", "gemma3_text"},
    {"phi3", "phi3"},          {"olmo2", "olmo2"},   {"smollm3", "smollm3"}};

const GgufFamily& read_family(const GgufFile& file) {
  const std::optional<std::string_view> name = file.string("general.architecture");
  if (!name) refuse(file.where(), "no metadata 'general.architecture'");
  std::string known;
  for (const GgufFamily& family : kFamilies) {
    if (*name == family.name) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.name);
  }
  refuse(file.where(), "architecture " + shown(*name) + " is not supported",
         "this version computes " + known);
}

// Biases are tensors; the metadata says nothing of them.
void read_biases(const GgufFile& file, ModelConfig& config) {
  config.qkv_bias = has_tensor(file, "blk.0.attn_q.bias");
  config.attention_out_bias = has_tensor(file, "blk.0.attn_output.bias");
  config.mlp_bias = has_tensor(file, "blk.0.ffn_down.bias");
}

// What the converter leaves out because llama.cpp's code has it.
void read_gemma(const ModelKeys& keys, ModelConfig& config) {
  config.norms_after = true;
  config.scaled_embedding = true;
  config.activation = Activation::kGeluTanh;
  const bool is_gemma2 = config.architecture == "gemma2";
  const auto cap = [&](const char* key, double otherwise) {
    const double value = keys.real(key).value_or(otherwise);
    if (!(value >= 0 && std::isfinite(value)))
      refuse(keys.where(), keys.full(key) + " is " + std::to_string(value) +
                               ", expected a positive number, or 0 for none");
    return value;
  };
  config.attention_soft_cap = cap("attn_logit_softcapping", is_gemma2 ? 50 : 0);
  config.final_soft_cap = cap("final_logit_softcapping", is_gemma2 ? 30 : 0);
  // The 27B of both: llama.cpp knows them by their number of layers.
  const bool by_width = config.n_layers == (is_gemma2 ? 46 : 62);
  const auto scalar =
      static_cast<double>(by_width ? config.hidden_size / config.n_heads : config.head_dim);
  config.attention_multiplier = 1.0 / std::sqrt(scalar);
}

void read_family_arithmetic(const GgufFile& file, const ModelKeys& keys, ModelConfig& config) {
  const std::string& type = config.architecture;
  read_biases(file, config);
  if (type == "qwen3" || type == "qwen3_moe" || type == "gemma3_text")
    config.query_key_norm = QueryKeyNorm::kPerHead;
  if (type == "gemma2" || type == "gemma3_text") read_gemma(keys, config);
  if (type == "olmo2") {
    config.query_key_norm = QueryKeyNorm::kAllHeads;
    config.norms_before = false;
    config.norms_after = true;
  }
}

void refuse_other_arithmetic(const ModelKeys& keys, const ModelConfig& config) {
  const bool caps = config.architecture == "gemma2" || config.architecture == "gemma3_text";
  for (const char* key :
       {"attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias", "embedding_scale",
        "residual_scale", "logit_scale", "attn_logit_softcapping", "final_logit_softcapping",
        "use_parallel_residual", "attention.causal"}) {
    if (caps && std::string_view(key).ends_with("logit_softcapping")) continue;
    if (keys.has(key))
      refuse(keys.where(),
             "metadata " + shown(keys.full(key)) + " asks for arithmetic that is not supported");
  }
}

void read_head_dim(const ModelKeys& keys, ModelConfig& config) {
  if (const auto key_length = keys.count("attention.key_length")) {
    config.head_dim = *key_length;
  } else {
    if (config.n_heads <= 0 || config.hidden_size % config.n_heads != 0) {
      refuse(keys.where(), keys.full("embedding_length") + " " +
                               std::to_string(config.hidden_size) + " is not a multiple of " +
                               std::to_string(config.n_heads) + " heads, and there is no " +
                               keys.full("attention.key_length"));
    }
    config.head_dim = config.hidden_size / config.n_heads;
  }
  const int64_t value_length = keys.count("attention.value_length").value_or(config.head_dim);
  if (value_length != config.head_dim) {
    refuse(keys.where(), "keys of " + std::to_string(config.head_dim) + " and values of " +
                             std::to_string(value_length) + " elements are not supported");
  }
}

// The vocabulary is what the embedding has rows for; the metadata may only agree with it.
int64_t read_vocab_size(const GgufFile& file, const ModelKeys& keys) {
  const auto it = std::find_if(file.tensors().begin(), file.tensors().end(),
                               [](const StoredTensor& t) { return t.name == "token_embd.weight"; });
  if (it == file.tensors().end()) refuse(file.where(), "no tensor 'token_embd.weight'");
  if (it->shape.size() != 2)
    refuse(file.where(), "tensor 'token_embd.weight' has shape " + shape_text(it->shape) +
                             ", expected two dimensions");
  const int64_t rows = it->shape[0];
  const int64_t declared = keys.count("vocab_size").value_or(rows);
  if (declared != rows) {
    refuse(file.where(), keys.full("vocab_size") + " is " + std::to_string(declared) +
                             ", but 'token_embd.weight' has " + std::to_string(rows) + " rows");
  }
  if (const auto tokens = file.strings("tokenizer.ggml.tokens");
      tokens && tokens->size() > static_cast<size_t>(rows)) {
    refuse(file.where(), std::to_string(tokens->size()) + " tokens, but 'token_embd.weight' has " +
                             std::to_string(rows) + " rows");
  }
  return rows;
}

void read_special_tokens(const GgufFile& file, ModelConfig& config) {
  const auto add = [&](const char* key, std::vector<int32_t>& ids) {
    const std::optional<uint64_t> id = file.count(key);
    if (!id) return;
    if (*id >= static_cast<uint64_t>(config.vocab_size)) {
      refuse(file.where(), std::string(key) + " is " + std::to_string(*id) +
                               ", outside the vocabulary of " + std::to_string(config.vocab_size));
    }
    if (std::find(ids.begin(), ids.end(), static_cast<int32_t>(*id)) == ids.end())
      ids.push_back(static_cast<int32_t>(*id));
  };
  add("tokenizer.ggml.bos_token_id", config.bos_token_ids);
  // llama.cpp ends a generation at any of the three.
  add("tokenizer.ggml.eos_token_id", config.eos_token_ids);
  add("tokenizer.ggml.eot_token_id", config.eos_token_ids);
  add("tokenizer.ggml.eom_token_id", config.eos_token_ids);
}

}  // namespace

ModelConfig read_gguf_config(const GgufFile& file) {
  const GgufFamily& family = read_family(file);
  refuse_other_kinds(file);
  const ModelKeys keys(file, family.name);
  ModelConfig config;
  config.architecture = family.architecture;
  config.vocab_size = read_vocab_size(file, keys);
  config.hidden_size = keys.required_count("embedding_length");
  config.intermediate_size = keys.required_count("feed_forward_length");
  config.n_layers = keys.required_count("block_count");
  config.n_heads = keys.required_count("attention.head_count");
  config.n_kv_heads = keys.count("attention.head_count_kv").value_or(config.n_heads);
  config.max_positions = keys.required_count("context_length");
  read_head_dim(keys, config);
  const std::optional<double> eps = keys.real("attention.layer_norm_rms_epsilon");
  if (!eps)
    refuse(file.where(), "no metadata " + shown(keys.full("attention.layer_norm_rms_epsilon")));
  config.rms_norm_eps = *eps;
  check_sizes(config, file.where());
  read_gguf_rope(keys, config);
  refuse_other_arithmetic(keys, config);
  read_gguf_experts(keys, config);
  read_family_arithmetic(file, keys, config);
  read_gguf_layers(file, keys, config);
  read_special_tokens(file, config);
  return config;
}

}  // namespace isobit

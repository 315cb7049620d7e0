#include <algorithm>

#include "checkpoint/gguf_checkpoint.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

// Reads "<architecture>.<key>".
class ModelKeys {
 public:
  ModelKeys(const GgufFile& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  const std::string& where() const { return file_.where(); }
  std::string full(const char* key) const { return prefix_ + key; }
  std::optional<int64_t> count(const char* key) const {
    const std::optional<uint64_t> v = file_.count(full(key));
    if (v && *v > INT64_MAX)
      refuse(where(), full(key) + " is " + std::to_string(*v) + ", too large");
    return v ? std::optional<int64_t>(static_cast<int64_t>(*v)) : std::nullopt;
  }
  int64_t required_count(const char* key) const {
    if (const auto v = count(key)) return *v;
    refuse(where(), "no metadata " + shown(full(key)));
  }
  std::optional<double> real(const char* key) const { return file_.real(full(key)); }
  std::optional<std::string_view> string(const char* key) const { return file_.string(full(key)); }
  bool has(const char* key) const { return file_.has(full(key)); }

 private:
  const GgufFile& file_;
  std::string prefix_;
};

void refuse_other_kinds(const GgufFile& file) {
  const std::string_view type = file.string("general.type").value_or("model");
  if (type != "model")
    refuse(file.where(), "general.type is " + shown(type) + ", expected 'model'",
           "a part of a model cannot be run alone");
  const uint64_t n_splits = file.count("split.count").value_or(1);
  if (n_splits > 1) {
    refuse(file.where(),
           "one of " + std::to_string(n_splits) + " splits; split GGUF files are not supported",
           "merge them with llama-gguf-split --merge");
  }
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

void refuse_rope_scaling(const ModelKeys& keys, const ModelConfig& config) {
  const std::string_view type = keys.string("rope.scaling.type").value_or("none");
  const double factor = keys.real("rope.scaling.factor").value_or(1);
  if (type != "none" && !(type == "linear" && factor == 1)) {
    refuse(keys.where(), "rope scaling of type " + shown(type) + " is not supported",
           "this version computes plain rotary positions");
  }
  if (keys.real("rope.scale_linear").value_or(1) != 1)
    refuse(keys.where(), keys.full("rope.scale_linear") + " other than 1 is not supported");
  if (keys.real("rope.scaling.attn_factor").value_or(1) != 1)
    refuse(keys.where(), keys.full("rope.scaling.attn_factor") + " other than 1 is not supported");
  const int64_t rotary = keys.count("rope.dimension_count").value_or(config.head_dim);
  if (rotary != config.head_dim) {
    refuse(keys.where(), keys.full("rope.dimension_count") + " is " + std::to_string(rotary) +
                             ", but heads have " + std::to_string(config.head_dim) +
                             " elements; partial rotary positions are not supported");
  }
}

void refuse_other_arithmetic(const ModelKeys& keys, const ModelConfig& config) {
  if (keys.count("expert_count").value_or(0) > 0)
    refuse(keys.where(), keys.full("expert_count") + ": mixtures of experts are not supported");
  const int64_t window = keys.count("attention.sliding_window").value_or(0);
  if (window > 0 && window < config.max_positions) {
    refuse(keys.where(), keys.full("attention.sliding_window") + " " + std::to_string(window) +
                             " of a context of " + std::to_string(config.max_positions) +
                             " is in force, and sliding-window attention is not supported");
  }
  for (const char* key :
       {"attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias", "embedding_scale",
        "residual_scale", "logit_scale", "attn_logit_softcapping", "final_logit_softcapping",
        "use_parallel_residual", "attention.causal"}) {
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
  const std::optional<std::string_view> architecture = file.string("general.architecture");
  if (!architecture) refuse(file.where(), "no metadata 'general.architecture'");
  if (*architecture != "llama" && *architecture != "qwen2") {
    refuse(file.where(), "architecture " + shown(*architecture) + " is not supported",
           "this version computes llama and qwen2");
  }
  refuse_other_kinds(file);
  const ModelKeys keys(file, std::string(*architecture));
  ModelConfig config;
  config.architecture = *architecture;
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
  config.rope_theta = keys.real("rope.freq_base").value_or(10000);
  refuse_rope_scaling(keys, config);
  refuse_other_arithmetic(keys, config);
  config.qkv_bias = config.architecture == "qwen2";
  read_special_tokens(file, config);
  return config;
}

}  // namespace isobit

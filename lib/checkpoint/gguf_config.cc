#include <algorithm>
#include <cmath>

#include "checkpoint/gguf_checkpoint.h"
#include "checkpoint/model_tensors.h"
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

// What the converter leaves out because llama.cpp's code has it: numeric contract section 3 in the
// terms of each architecture. `layers` come from the metadata, the rest from here.
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

bool has_tensor(const GgufFile& file, std::string_view name) {
  return std::any_of(file.tensors().begin(), file.tensors().end(),
                     [&](const StoredTensor& t) { return t.name == name; });
}

// Biases are tensors; the metadata says nothing of them.
void read_biases(const GgufFile& file, ModelConfig& config) {
  config.qkv_bias = has_tensor(file, "blk.0.attn_q.bias");
  config.attention_out_bias = has_tensor(file, "blk.0.attn_output.bias");
  config.mlp_bias = has_tensor(file, "blk.0.ffn_down.bias");
}

void read_experts(const ModelKeys& keys, ModelConfig& config) {
  const int64_t n = keys.count("expert_count").value_or(0);
  if (n == 0) return;
  if (config.architecture == "llama") config.architecture = "mixtral";
  if (config.architecture != "mixtral" && config.architecture != "qwen3_moe") {
    refuse(keys.where(), keys.full("expert_count") + ": experts in a " + config.architecture +
                             " model are not supported");
  }
  // llama.cpp renormalises for both, whatever norm_topk_prob was: its files do not say.
  config.experts = {
      .n = n,
      .top_k = keys.required_count("expert_used_count"),
      .width = keys.count("expert_feed_forward_length").value_or(config.intermediate_size),
      .renormalise = true};
}

// Layers whose window holds, where the metadata gives them one by one or by a pattern: all but the
// last of every `interval`.
std::vector<bool> sliding_layers(const GgufFile& file, const ModelKeys& keys,
                                 const ModelConfig& config, int64_t interval) {
  std::vector<bool> sliding(static_cast<size_t>(config.n_layers));
  const std::string key = keys.full("attention.sliding_window_pattern");
  if (const auto stated = file.booleans(key)) {
    if (stated->size() != sliding.size()) {
      refuse(file.where(), key + " has " + std::to_string(stated->size()) + " elements, expected " +
                               std::to_string(sliding.size()));
    }
    return *stated;
  }
  const auto every =
      static_cast<int64_t>(file.count(key).value_or(static_cast<uint64_t>(interval)));
  if (every < 1) refuse(file.where(), key + " is 0");
  for (size_t i = 0; i < sliding.size(); ++i)
    sliding[i] = (static_cast<int64_t>(i) + 1) % every != 0;
  return sliding;
}

// The window of llama.cpp's models that have one; of the others the converter stores none, and one
// that is stored all the same is refused.
void read_windows(const GgufFile& file, const ModelKeys& keys, ModelConfig& config) {
  const bool is_gemma2 = config.architecture == "gemma2",
             is_gemma3 = config.architecture == "gemma3_text";
  const int64_t window = keys.count("attention.sliding_window").value_or(is_gemma2 ? 4096 : 0);
  if (window == 0 || window >= config.max_positions) return;
  if (config.architecture == "phi3") {
    config.layers.assign(static_cast<size_t>(config.n_layers), LayerConfig{.window = window});
    return;
  }
  if (!is_gemma2 && !is_gemma3) {
    refuse(keys.where(), keys.full("attention.sliding_window") + " " + std::to_string(window) +
                             " of a context of " + std::to_string(config.max_positions) +
                             " is in force, and sliding-window attention of a " +
                             config.architecture + " GGUF is not supported");
  }
  config.layers.resize(static_cast<size_t>(config.n_layers));
  const std::vector<bool> sliding = sliding_layers(file, keys, config, is_gemma2 ? 2 : 6);
  for (size_t i = 0; i < sliding.size(); ++i) {
    if (sliding[i]) config.layers[i].window = window;
  }
}

// Which layers turn their queries and keys by which rope, and which have experts.
void read_layers(const GgufFile& file, const ModelKeys& keys, ModelConfig& config) {
  read_windows(file, keys, config);
  const auto n = static_cast<size_t>(config.n_layers);
  if (config.architecture == "smollm3") {
    config.layers.resize(n);
    for (size_t i = 3; i < n; i += 4) config.layers[i].rope.reset();  // as in llama.cpp's code
  }
  if (config.architecture == "gemma3_text") {
    RopeConfig local;
    local.theta = keys.real("rope.freq_base_swa").value_or(10000);
    config.layers.resize(n);
    const std::vector<bool> sliding = sliding_layers(file, keys, config, 6);
    for (size_t i = 0; i < n && local != config.ropes[0]; ++i) {
      if (sliding[i]) config.layers[i].rope = 1;
    }
    if (local != config.ropes[0]) config.ropes.push_back(local);
  }
  if (config.experts.n > 0) {
    config.layers.resize(n);
    for (size_t i = 0; i < n; ++i)
      config.layers[i].has_experts =
          has_tensor(file, "blk." + std::to_string(i) + ".ffn_gate_inp.weight");
  }
  if (std::all_of(config.layers.begin(), config.layers.end(),
                  [](const LayerConfig& layer) { return layer == LayerConfig{}; }))
    config.layers.clear();
}

void read_gemma(const ModelKeys& keys, ModelConfig& config) {
  config.norms_after = true;
  config.scaled_embedding = true;
  config.activation = Activation::kGeluTanh;
  const bool is_gemma2 = config.architecture == "gemma2";
  config.attention_soft_cap = keys.real("attn_logit_softcapping").value_or(is_gemma2 ? 50 : 0);
  config.final_soft_cap = keys.real("final_logit_softcapping").value_or(is_gemma2 ? 30 : 0);
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

void read_rotary_dim(const ModelKeys& keys, ModelConfig& config) {
  const int64_t rotary = keys.count("rope.dimension_count").value_or(config.head_dim);
  if (rotary == config.head_dim) return;
  if (config.architecture != "phi3") {
    refuse(keys.where(), keys.full("rope.dimension_count") + " is " + std::to_string(rotary) +
                             ", but heads have " + std::to_string(config.head_dim) +
                             " elements; partial rotary positions are not supported");
  }
  if (rotary < 2 || rotary > config.head_dim || rotary % 2 != 0) {
    refuse(keys.where(), keys.full("rope.dimension_count") + " is " + std::to_string(rotary) +
                             ", expected an even number up to " + std::to_string(config.head_dim));
  }
  config.rotary_dim = rotary;
}

void read_yarn(const ModelKeys& keys, RopeConfig& rope, const ModelConfig& config) {
  rope.kind = RopeKind::kYarn;
  rope.original_positions = static_cast<double>(
      keys.count("rope.scaling.original_context_length").value_or(config.max_positions));
  rope.beta_fast = keys.real("rope.scaling.yarn_beta_fast").value_or(32);
  rope.beta_slow = keys.real("rope.scaling.yarn_beta_slow").value_or(1);
  if (!(rope.beta_fast > 0 && rope.beta_slow > 0 && rope.original_positions > 0))
    refuse(keys.where(),
           "yarn's beta_fast, beta_slow and original_context_length must be positive");
  for (const char* key : {"rope.scaling.yarn_ext_factor", "rope.scaling.yarn_attn_factor",
                          "rope.scaling.yarn_log_multiplier"}) {
    if (keys.has(key)) refuse(keys.where(), keys.full(key) + " is not supported");
  }
}

void read_rope(const ModelKeys& keys, ModelConfig& config) {
  read_rotary_dim(keys, config);
  RopeConfig& rope = config.ropes[0];
  rope.theta = keys.real("rope.freq_base").value_or(10000);
  const std::string_view type = keys.string("rope.scaling.type").value_or("linear");
  const double factor =
      keys.real("rope.scaling.factor").value_or(keys.real("rope.scale_linear").value_or(1));
  if (type != "none" && !(factor > 0 && std::isfinite(factor)))
    refuse(keys.where(), keys.full("rope.scaling.factor") + " is " + std::to_string(factor) +
                             ", expected a positive number");
  if (type == "linear" || type == "yarn") {
    if (factor != 1 || type == "yarn") rope.factor = factor;
    if (factor != 1 && type == "linear") rope.kind = RopeKind::kLinear;
    if (type == "yarn") read_yarn(keys, rope, config);
  } else if (type != "none" && !(type == "longrope" && config.architecture == "phi3")) {
    refuse(keys.where(), "rope scaling of type " + shown(type) + " is not supported",
           "this version computes none, linear, yarn, and longrope of phi3");
  }
  const double attention = keys.real("rope.scaling.attn_factor").value_or(1);
  if (attention == 1) return;
  if (config.architecture != "phi3")
    refuse(keys.where(), keys.full("rope.scaling.attn_factor") + " other than 1 is not supported");
  if (!(attention > 0 && std::isfinite(attention)))
    refuse(keys.where(), keys.full("rope.scaling.attn_factor") + " is not a positive number");
  rope.attention_factor = attention;
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
  read_rope(keys, config);
  refuse_other_arithmetic(keys, config);
  read_experts(keys, config);
  read_family_arithmetic(file, keys, config);
  read_layers(file, keys, config);
  read_special_tokens(file, config);
  return config;
}

}  // namespace isobit

#include "checkpoint/gguf_layers.h"

#include <set>

namespace isobit {
namespace {

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

// Gemma 3 turns the queries and keys of layers with a window by a rope of their own.
void read_local_rope(const GgufFile& file, const ModelKeys& keys, ModelConfig& config) {
  RopeConfig local;
  local.theta = keys.real("rope.freq_base_swa").value_or(10000);
  const bool slides = keys.count("attention.sliding_window").value_or(0) > 0;
  if (!slides || local == config.ropes[0]) return;
  config.ropes.push_back(local);
  const std::vector<bool> sliding = sliding_layers(file, keys, config, 6);
  config.layers.resize(sliding.size());
  for (size_t i = 0; i < sliding.size(); ++i) {
    if (sliding[i]) config.layers[i].rope = 1;
  }
}

}  // namespace

void read_gguf_experts(const ModelKeys& keys, ModelConfig& config) {
  const int64_t n = keys.count("expert_count").value_or(0);
  if (n == 0) return;
  if (config.architecture == "llama") config.architecture = "mixtral";
  if (config.architecture != "mixtral" && config.architecture != "qwen3_moe") {
    refuse(keys.where(), keys.full("expert_count") + ": experts in a " + config.architecture +
                             " model are not supported");
  }
  constexpr double kSoftmax = 1;
  const struct {
    const char* key;
    double value, plain;
  } others[] = {
      {"expert_shared_count", keys.real_or_count("expert_shared_count").value_or(0), 0},
      {"expert_gating_func", keys.real_or_count("expert_gating_func").value_or(kSoftmax), kSoftmax},
      {"expert_group_count", keys.real_or_count("expert_group_count").value_or(1), 1},
      {"expert_weights_scale", keys.real_or_count("expert_weights_scale").value_or(1), 1}};
  for (const auto& [key, value, plain] : others) {
    if (value != plain && value != 0)
      refuse(keys.where(), keys.full(key) + " is " + std::to_string(value) +
                               ", which asks for arithmetic that is not supported");
  }
  if (!keys.boolean("expert_weights_norm").value_or(true))
    refuse(keys.where(), keys.full("expert_weights_norm") + " is false, which is not supported");
  // llama.cpp renormalises for both, whatever norm_topk_prob was: its files do not say.
  config.experts = {
      .n = n,
      .top_k = keys.required_count("expert_used_count"),
      .width = keys.count("expert_feed_forward_length").value_or(config.intermediate_size),
      .renormalise = true};
}

void read_gguf_layers(const GgufFile& file, const ModelKeys& keys, ModelConfig& config) {
  read_windows(file, keys, config);
  const auto n = static_cast<size_t>(config.n_layers);
  if (config.architecture == "smollm3") {
    config.layers.resize(n);
    for (size_t i = 3; i < n; i += 4) config.layers[i].rope.reset();  // as in llama.cpp's code
  }
  if (config.architecture == "gemma3_text") read_local_rope(file, keys, config);
  if (config.experts.n > 0) {
    std::set<std::string> names;  // a file may say 10,000 layers, and have 65,536 tensors
    for (const StoredTensor& tensor : file.tensors()) names.insert(tensor.name);
    config.layers.resize(n);
    for (size_t i = 0; i < n; ++i)
      config.layers[i].has_experts =
          names.contains("blk." + std::to_string(i) + ".ffn_gate_inp.weight");
  }
  if (std::all_of(config.layers.begin(), config.layers.end(),
                  [](const LayerConfig& layer) { return layer == LayerConfig{}; }))
    config.layers.clear();
}

}  // namespace isobit

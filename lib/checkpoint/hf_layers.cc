#include "checkpoint/hf_layers.h"

#include <algorithm>
#include <set>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

// The window in force somewhere, or 0.
int64_t read_window(const ConfigFields& fields, const HfFamily& family) {
  if (family.window_rule == WindowRule::kNone) return 0;
  if (family.asks_for_window && !fields.boolean("use_sliding_window", false)) return 0;
  const int64_t otherwise = fields.states("sliding_window") ? 0 : family.window;
  const std::optional<int64_t> window = fields.integer("sliding_window");
  if (window && *window <= 0)
    fields.wrong("sliding_window", *fields.find("sliding_window"), "a positive number");
  return window.value_or(otherwise);
}

std::vector<bool> layers_with_rope(const ConfigFields& fields, const ModelConfig& config) {
  const auto n = static_cast<size_t>(config.n_layers);
  std::vector<bool> has(n, true);
  if (config.architecture != "smollm3") return has;
  if (const auto list = fields.integers("no_rope_layers")) {
    if (list->size() != n) {
      refuse(fields.where(), "no_rope_layers has " + std::to_string(list->size()) +
                                 " elements, expected " + std::to_string(n));
    }
    for (size_t i = 0; i < n; ++i) has[i] = (*list)[i] != 0;
    return has;
  }
  const int64_t interval = fields.integer("no_rope_layer_interval").value_or(4);
  if (interval < 1) refuse(fields.where(), "no_rope_layer_interval is not positive");
  for (size_t i = 0; i < n; ++i) has[i] = (static_cast<int64_t>(i) + 1) % interval != 0;
  return has;
}

std::vector<bool> sliding_by_rule(const ConfigFields& fields, const HfFamily& family,
                                  const ModelConfig& config, const std::vector<bool>& has_rope) {
  std::vector<bool> sliding(static_cast<size_t>(config.n_layers));
  const int64_t from = fields.integer("max_window_layers").value_or(28);
  const int64_t interval =
      fields.integer("sliding_window_pattern").value_or(family.window_interval);
  if (family.window_rule == WindowRule::kAllButEvery && interval < 1)
    refuse(fields.where(), "sliding_window_pattern is not positive");
  for (size_t i = 0; i < sliding.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    switch (family.window_rule) {
      case WindowRule::kNone:
        break;
      case WindowRule::kAll:
        sliding[i] = true;
        break;
      case WindowRule::kFromLayer:
        sliding[i] = layer >= from;
        break;
      case WindowRule::kAllButEvery:
        sliding[i] = (layer + 1) % interval != 0;
        break;
      case WindowRule::kWithoutRope:
        sliding[i] = !has_rope[i];
        break;
    }
  }
  return sliding;
}

// layer_types, where the file has it.
std::optional<std::vector<bool>> stated_sliding(const ConfigFields& fields,
                                                const ModelConfig& config) {
  const Json* types = fields.find("layer_types");
  if (!types) return std::nullopt;
  if (!types->is_array()) fields.wrong("layer_types", *types, "a list");
  if (static_cast<int64_t>(types->size()) != config.n_layers) {
    refuse(fields.where(), "layer_types has " + std::to_string(types->size()) +
                               " elements, expected " + std::to_string(config.n_layers));
  }
  std::vector<bool> sliding;
  for (const Json& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      refuse(fields.where(), "layer_types holds " + shown(type.dump()) +
                                 "; only full_attention and sliding_attention are supported");
    }
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

std::vector<bool> sliding_layers(const ConfigFields& fields, const HfFamily& family,
                                 const ModelConfig& config, const std::vector<bool>& has_rope,
                                 int64_t window) {
  std::vector<bool> by_rule(static_cast<size_t>(config.n_layers));
  if (window > 0) by_rule = sliding_by_rule(fields, family, config, has_rope);
  const std::optional<std::vector<bool>> stated = stated_sliding(fields, config);
  if (!stated) return by_rule;
  const bool decides = family.window_rule != WindowRule::kNone &&
                       family.window_rule != WindowRule::kAll && window > 0;
  if (decides || *stated == by_rule) return *stated;
  refuse(fields.where(), window > 0 ? "layer_types disagrees with sliding_window, which a " +
                                          config.architecture + " model has in every layer"
                                    : "layer_types holds sliding_attention, but no sliding window "
                                      "is in force");
}

int64_t experts_in(const ConfigFields& fields, int64_t otherwise) {
  const auto local = fields.integer("num_local_experts"), all = fields.integer("num_experts");
  if (local && all && *local != *all) {
    refuse(fields.where(), "num_local_experts is " + std::to_string(*local) +
                               ", but num_experts is " + std::to_string(*all));
  }
  return local ? *local : all.value_or(otherwise);
}

ExpertsConfig read_experts(const ConfigFields& fields, const ModelConfig& config) {
  ExpertsConfig experts;
  if (config.architecture == "mixtral") {
    experts = {.n = experts_in(fields, 8),
               .top_k = fields.integer("num_experts_per_tok").value_or(2),
               .width = config.intermediate_size,
               .renormalise = true};
  } else if (config.architecture == "qwen3_moe") {
    experts = {.n = experts_in(fields, 128),
               .top_k = fields.integer("num_experts_per_tok").value_or(8),
               .width = fields.integer("moe_intermediate_size").value_or(768),
               .renormalise = fields.boolean("norm_topk_prob", false)};
  } else if (experts_in(fields, 0) > 0) {
    refuse(fields.where(), "a " + config.architecture + " model with experts is not supported");
  }
  return experts;
}

std::vector<bool> layers_with_experts(const ConfigFields& fields, const ModelConfig& config) {
  std::vector<bool> has(static_cast<size_t>(config.n_layers), config.experts.n > 0);
  if (config.architecture != "qwen3_moe" || config.experts.n == 0) return has;
  const int64_t step = fields.integer("decoder_sparse_step").value_or(1);
  if (step < 1) refuse(fields.where(), "decoder_sparse_step is not positive");
  const auto list = fields.integers("mlp_only_layers").value_or(std::vector<int64_t>{});
  const std::set<int64_t> dense(list.begin(), list.end());
  for (size_t i = 0; i < has.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    has[i] = (layer + 1) % step == 0 && !dense.contains(layer);
  }
  return has;
}

}  // namespace

void read_layers(const ConfigFields& fields, const HfFamily& family, ModelConfig& config) {
  const std::vector<bool> has_rope = layers_with_rope(fields, config);
  const int64_t window = read_window(fields, family);
  const std::vector<bool> sliding = sliding_layers(fields, family, config, has_rope, window);
  config.experts = read_experts(fields, config);
  const std::vector<bool> has_experts = layers_with_experts(fields, config);
  for (size_t i = 0; i < has_rope.size(); ++i) {
    LayerConfig layer;
    layer.window = sliding[i] && window < config.max_positions ? window : 0;
    if (sliding[i] && config.ropes.size() > 1) layer.rope = 1;
    if (!has_rope[i]) layer.rope.reset();
    layer.has_experts = has_experts[i];
    config.layers.push_back(layer);
  }
  if (std::all_of(config.layers.begin(), config.layers.end(),
                  [](const LayerConfig& layer) { return layer == LayerConfig{}; }))
    config.layers.clear();
}

}  // namespace isobit

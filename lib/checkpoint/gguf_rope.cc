#include "checkpoint/gguf_rope.h"

#include <cmath>

namespace isobit {
namespace {

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

}  // namespace

void read_gguf_rope(const ModelKeys& keys, ModelConfig& config) {
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

}  // namespace isobit

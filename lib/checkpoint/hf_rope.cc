#include "checkpoint/hf_rope.h"

#include <cmath>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

constexpr struct {
  const char* name;
  RopeKind kind;
} kKinds[] = {{"default", RopeKind::kPlain},
              {"linear", RopeKind::kLinear},
              {"llama3", RopeKind::kLlama3},
              {"yarn", RopeKind::kYarn},
              {"longrope", RopeKind::kLongrope}};

std::string kind_name(const ConfigFields& rope, const ModelConfig& config) {
  const auto type = rope.string("rope_type"), old_type = rope.string("type");
  if (type && old_type && *type != *old_type) {
    refuse(rope.where(), "rope_type is " + shown(*type) + ", but type is " + shown(*old_type));
  }
  const std::string name = type ? *type : old_type.value_or("default");
  // What Phi-3 called its scaling before it was longrope.
  return config.architecture == "phi3" && (name == "su" || name == "yarn") ? "longrope" : name;
}

RopeKind read_kind(const ConfigFields& rope, const ModelConfig& config) {
  const std::string name = kind_name(rope, config);
  for (const auto& known : kKinds) {
    if (name == known.name) return known.kind;
  }
  refuse(rope.where(), "rope scaling of type " + shown(name) + " is not supported",
         name == "dynamic"
             ? "it depends on the running length, so one prompt would have many answers"
             : "this version computes default, linear, llama3, yarn and longrope");
}

void read_longrope(const ConfigFields& rope, RopeConfig& out, const ModelConfig& config) {
  out.factor = rope.positive("factor").value_or(static_cast<double>(config.max_positions) /
                                                out.original_positions);
  const bool is_long = static_cast<double>(config.max_positions) > out.original_positions;
  for (const char* key : {"short_factor", "long_factor"}) {
    const std::vector<double> list = rope.required_reals(key);
    if (static_cast<int64_t>(list.size()) != config.rotary_elems() / 2) {
      refuse(rope.where(), std::string(key) + " has " + std::to_string(list.size()) +
                               " elements, expected " + std::to_string(config.rotary_elems() / 2));
    }
    for (const double factor : list) {
      if (!(factor > 0 && std::isfinite(factor))) rope.wrong(key, Json(factor), "positive numbers");
    }
    if ((key == std::string("long_factor")) == is_long) out.long_or_short = list;
  }
}

void read_llama3(const ConfigFields& rope, RopeConfig& out) {
  out.factor = rope.required_positive("factor");
  out.low_freq_factor = rope.required_positive("low_freq_factor");
  out.high_freq_factor = rope.required_positive("high_freq_factor");
  if (out.high_freq_factor <= out.low_freq_factor) {
    refuse(rope.where(), "high_freq_factor is " + Json(out.high_freq_factor).dump() +
                             ", expected more than low_freq_factor " +
                             Json(out.low_freq_factor).dump());
  }
}

void read_yarn(const ConfigFields& rope, RopeConfig& out, const ModelConfig& config) {
  out.factor = rope.positive("factor").value_or(static_cast<double>(config.max_positions) /
                                                out.original_positions);
  out.beta_fast = rope.positive("beta_fast").value_or(32);
  out.beta_slow = rope.positive("beta_slow").value_or(1);
  out.truncate = rope.boolean("truncate", true);
  out.mscale = rope.real("mscale").value_or(0);
  out.mscale_all_dim = rope.real("mscale_all_dim").value_or(0);
}

// What `rope` says of scaling; its theta is the caller's to read. `all` is the whole configuration.
RopeConfig read_scaling(const ConfigFields& rope, const ConfigFields& all,
                        const ModelConfig& config) {
  RopeConfig out;
  out.kind = read_kind(rope, config);
  if (out.kind == RopeKind::kPlain) return out;
  const auto outer = all.positive("original_max_position_embeddings"),
             inner = rope.positive("original_max_position_embeddings");
  out.original_positions =
      outer ? *outer : inner.value_or(static_cast<double>(config.max_positions));
  switch (out.kind) {
    case RopeKind::kLinear:
      out.factor = rope.required_positive("factor");
      out.original_positions = 0;
      return out;
    case RopeKind::kLlama3:
      read_llama3(rope, out);
      return out;
    case RopeKind::kYarn:
      read_yarn(rope, out, config);
      break;
    default:
      read_longrope(rope, out, config);
  }
  out.attention_factor = rope.positive("attention_factor");
  return out;
}

void check_theta(const ConfigFields& fields, const char* old_name, double old_theta,
                 const ConfigFields& parameters, double new_theta) {
  if (old_theta == new_theta) return;
  const std::string inner = parameters.where().substr(fields.where().size() + 2);
  refuse(fields.where(), std::string(old_name) + " is " + Json(old_theta).dump() + ", but " +
                             inner + ".rope_theta is " + Json(new_theta).dump());
}

// One object of the new spelling, held against the field that the theta had in the old one.
RopeConfig read_parameters(const ConfigFields& parameters, const char* old_name,
                           double default_theta, const ConfigFields& all,
                           const ModelConfig& config) {
  RopeConfig rope = read_scaling(parameters, all, config);
  const std::optional<double> old_theta = all.real(old_name), theta = parameters.real("rope_theta");
  if (old_theta && theta) check_theta(all, old_name, *old_theta, parameters, *theta);
  rope.theta = theta ? *theta : old_theta.value_or(default_theta);
  return rope;
}

constexpr const char* kFull = "full_attention";
constexpr const char* kSliding = "sliding_attention";

bool is_by_layer_type(const ConfigFields& parameters) {
  bool by_type = false;
  for (const auto& [key, value] : parameters.object().items()) {
    if (!value.is_object()) continue;
    if (key != kFull && key != kSliding)
      refuse(parameters.where(),
             "rotary positions of layers of type " + shown(key) + " are not supported");
    by_type = true;
  }
  return by_type;
}

double local_theta(const HfFamily& family) {
  return family.model_type == std::string("gemma3_text") ? 1e4 : family.rope_theta;
}

const char* local_theta_name(const HfFamily& family) {
  return family.model_type == std::string("gemma3_text") ? "rope_local_base_freq" : "rope_theta";
}

struct FullAndSliding {
  RopeConfig full, sliding;
};

FullAndSliding read_new(const ConfigFields& parameters, const ConfigFields& fields,
                        const HfFamily& family, const ModelConfig& config) {
  if (!is_by_layer_type(parameters)) {
    const RopeConfig rope =
        read_parameters(parameters, "rope_theta", family.rope_theta, fields, config);
    return {rope, rope};
  }
  const auto of_type = [&](const char* type, const char* old_name, double theta) {
    const Json* object = parameters.object_at(type);
    const Json none = Json::object();
    const ConfigFields rope(object ? *object : none, parameters.where() + "." + type);
    return read_parameters(rope, old_name, theta, fields, config);
  };
  return {of_type(kFull, "rope_theta", family.rope_theta),
          of_type(kSliding, local_theta_name(family), local_theta(family))};
}

// Old spelling: one theta and one scaling, which Gemma 3 applies to the layers of full attention
// only.
FullAndSliding read_old(const ConfigFields& fields, const HfFamily& family,
                        const ModelConfig& config) {
  FullAndSliding out;
  if (const Json* scaling = fields.object_at("rope_scaling"))
    out.full = read_scaling({*scaling, fields.where() + ": rope_scaling"}, fields, config);
  out.full.theta = fields.real("rope_theta").value_or(family.rope_theta);
  out.sliding = out.full;
  if (config.architecture == "gemma3_text") {
    out.sliding = RopeConfig{};
    out.sliding.theta = fields.real("rope_local_base_freq").value_or(local_theta(family));
  }
  return out;
}

void read_rotary_dim(const ConfigFields& fields, ModelConfig& config) {
  std::optional<double> share = fields.real("partial_rotary_factor");
  std::string where = fields.where();
  if (const Json* object = fields.object_at("rope_parameters")) {
    const ConfigFields parameters(*object, fields.where() + ": rope_parameters");
    const auto inner = parameters.real("partial_rotary_factor");
    if (share && inner && *share != *inner) {
      refuse(fields.where(), "partial_rotary_factor is " + Json(*share).dump() +
                                 ", but that of rope_parameters is " + Json(*inner).dump());
    }
    if (inner && !share) share = inner, where = parameters.where();
  }
  const double part = share.value_or(1);
  if (part == 1) return;
  if (config.architecture != "phi3")
    refuse(where, "partial_rotary_factor other than 1 is not supported");
  if (part > 0 && part < 1)
    config.rotary_dim = static_cast<int64_t>(static_cast<double>(config.head_dim) * part);
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0) {
    refuse(where, "partial_rotary_factor " + Json(part).dump() + " of heads of " +
                      std::to_string(config.head_dim) + " elements leaves no even number of them");
  }
}

}  // namespace

void read_ropes(const ConfigFields& fields, const HfFamily& family, ModelConfig& config) {
  read_rotary_dim(fields, config);
  FullAndSliding ropes = read_old(fields, family, config);
  if (const Json* object = fields.object_at("rope_parameters")) {
    const ConfigFields parameters(*object, fields.where() + ": rope_parameters");
    const FullAndSliding of_new = read_new(parameters, fields, family, config);
    if (fields.object_at("rope_scaling") &&
        (ropes.full != of_new.full || ropes.sliding != of_new.sliding)) {
      refuse(fields.where(), "rope_scaling and rope_parameters describe different positions");
    }
    ropes = of_new;
  }
  config.ropes = {ropes.full};
  if (ropes.sliding != ropes.full) config.ropes.push_back(ropes.sliding);
}

}  // namespace isobit

// The model: digests of its weights, its configuration as the engine computes it, and both as
// stored.
#include <cstring>
#include <map>

#include "base/json.h"
#include "checkpoint/refusal.h"
#include "fingerprint/fingerprint.h"
#include "fingerprint/item_list.h"
#include "fingerprint/weight_digests.h"

namespace isobit {
namespace {

constexpr FingerprintClass kClass = FingerprintClass::kModel;

std::string f32_bits(double decimal) {
  const auto v = static_cast<float>(decimal);
  uint8_t bytes[4];
  std::memcpy(bytes, &v, sizeof bytes);
  return hex(bytes);
}

Json rope_json(const RopeConfig& r) {
  static constexpr const char* kKinds[] = {"default", "linear", "llama3", "yarn", "longrope"};
  Json factors = Json::array();
  for (const float f : r.divisors) factors.push_back(f32_bits(f));
  return {{"type", kKinds[static_cast<size_t>(r.kind)]},
          {"theta", r.theta},
          {"factor", r.factor},
          {"original_positions", r.original_positions},
          {"low_high", {r.low_freq_factor, r.high_freq_factor}},
          {"beta", {r.beta_fast, r.beta_slow}},
          {"truncate", r.truncate},
          {"attention_factor", rope_attention_factor(r)},
          {"list", r.long_or_short},
          {"factors_f32", factors}};
}

Json layers_json(const ModelConfig& c) {
  Json out = Json::array();
  for (const LayerConfig& layer : c.layers) {
    out.push_back({{"window", layer.window},
                   {"rope", layer.rope ? Json(*layer.rope) : Json()},
                   {"experts", layer.has_experts}});
  }
  return out;
}

// What a plain Llama does not have, each under its name and only where it is there: the digests of
// plain models stay as they are when the engine learns more.
Json beyond_llama(const ModelConfig& c) {
  const ModelConfig plain;
  Json out = Json::object();
  RopeConfig plain_rope;
  plain_rope.theta = c.ropes[0].theta;
  plain_rope.divisors = c.ropes[0].divisors;
  if (c.ropes.size() > 1 || c.ropes[0] != plain_rope) {
    for (const RopeConfig& rope : c.ropes) out["ropes"].push_back(rope_json(rope));
  }
  const auto add = [&](const char* key, const auto& value, const auto& otherwise) {
    if (value != otherwise) out[key] = value;
  };
  add("rotary_dim", c.rotary_elems(), c.head_dim);
  add("attention_out_bias", c.attention_out_bias, plain.attention_out_bias);
  add("mlp_bias", c.mlp_bias, plain.mlp_bias);
  add("query_key_norm", static_cast<int>(c.query_key_norm), static_cast<int>(plain.query_key_norm));
  add("norms_before", c.norms_before, plain.norms_before);
  add("norms_after", c.norms_after, plain.norms_after);
  add("activation", static_cast<int>(c.activation), static_cast<int>(plain.activation));
  add("scaled_embedding", c.scaled_embedding, plain.scaled_embedding);
  add("attention_multiplier", c.attention_multiplier.value_or(0), 0.0);
  add("attention_soft_cap", c.attention_soft_cap, 0.0);
  add("final_soft_cap", c.final_soft_cap, 0.0);
  if (!c.layers.empty()) out["layers"] = layers_json(c);
  if (c.experts.n > 0) {
    out["experts"] = {{"n", c.experts.n},
                      {"top_k", c.experts.top_k},
                      {"width", c.experts.width},
                      {"renormalise", c.experts.renormalise}};
  }
  return out;
}

// What decides the arithmetic, however the file spells it. eps is compared as the f32 that it is
// rounded to, since a GGUF stores only that; so Hugging Face's 1e-05 and a GGUF's 0x3727c5ac are
// one value.
std::string arithmetic_digest(const ModelConfig& c) {
  Json json = {{"hidden_size", c.hidden_size},   {"intermediate_size", c.intermediate_size},
               {"n_layers", c.n_layers},         {"n_heads", c.n_heads},
               {"n_kv_heads", c.n_kv_heads},     {"head_dim", c.head_dim},
               {"vocab_size", c.vocab_size},     {"rms_norm_eps_f32", f32_bits(c.rms_norm_eps)},
               {"rope_theta", c.ropes[0].theta}, {"tied_head", c.tied_head},
               {"qkv_bias", c.qkv_bias}};
  Json factors = Json::array();
  for (const float f : c.ropes[0].divisors) factors.push_back(f32_bits(f));
  json["rope_factors_f32"] = factors;
  json.update(beyond_llama(c));
  return sha256_hex(canonical_json(json));
}

std::string id_list(const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids) out += (out.empty() ? "" : ",") + std::to_string(id);
  return out.empty() ? "none" : out;
}

// "F32:61,Q4_1:210,Q8_0:1": tensors by stored type.
std::string type_counts(const Checkpoint& checkpoint) {
  std::map<std::string, int> counts;
  for (const TensorView* tensor : model_tensors(checkpoint))
    ++counts[std::string(name(tensor->dtype))];
  std::string out;
  for (const auto& [type, n] : counts)
    out += (out.empty() ? "" : ",") + type + ":" + std::to_string(n);
  return out;
}

void add_config(const Checkpoint& checkpoint, ItemList& items) {
  const ModelConfig& config = checkpoint.config();
  int64_t n_parameters = 0;
  for (const TensorView* tensor : model_tensors(checkpoint)) n_parameters += tensor->n_elems();
  items.measured(kClass, "architecture", config.architecture);
  items.measured(kClass, "format", checkpoint.format());
  items.measured(kClass, "parameters", std::to_string(n_parameters));
  items.measured(kClass, "quantisation", type_counts(checkpoint));
  items.measured(kClass, "config.arithmetic", arithmetic_digest(config));
  items.measured(kClass, "config.stored", sha256_hex(checkpoint.stored_config()));
  items.measured(kClass, "config.max_positions", std::to_string(config.max_positions));
  items.measured(kClass, "config.bos_token_ids", id_list(config.bos_token_ids));
  items.measured(kClass, "config.eos_token_ids", id_list(config.eos_token_ids));
  if (checkpoint.stored_generation_config().empty()) {
    items.absent(kClass, "generation_config.stored", "the checkpoint has none");
  } else {
    items.measured(kClass, "generation_config.stored",
                   sha256_hex(checkpoint.stored_generation_config()));
  }
}

void add_weights(const FingerprintInputs& inputs, ThreadPool& pool, ItemList& items) {
  const Checkpoint& checkpoint = *inputs.checkpoint;
  const WeightDigests digests = digest_weights(checkpoint, pool);
  for (size_t i = 0; i < digests.files.size(); ++i) {
    const WeightDigests::Named& file = digests.files[i];
    // The name of a GGUF is the user's; those of shards belong to the checkpoint.
    const std::string gguf = digests.files.size() == 1 ? "gguf" : "gguf-" + std::to_string(i + 1);
    const std::string name = checkpoint.format() == "gguf" ? gguf : file.name;
    items.measured(kClass, "file." + name + ".sha256", hex(file.digest));
  }
  for (const WeightDigests::Named& tensor : digests.tensors) {
    const TensorView& view = checkpoint.tensor(tensor.name);
    items.measured(kClass, "tensor." + tensor.name,
                   std::string(name(view.dtype)) + " " + shape_text(view.shape) +
                       " sha256:" + hex(tensor.digest));
  }
  items.measured(kClass, "weights.stored_root", hex(digests.stored_root));
  if (inputs.canonical_root == CanonicalRoot::compute) {
    items.measured(kClass, "weights.canonical_root", hex(canonical_root(checkpoint, pool)));
  }
}

}  // namespace

void add_model_items(const FingerprintInputs& inputs, ItemList& items) {
  if (!inputs.checkpoint) {
    items.unknown(kClass, "weights.stored_root", "no checkpoint at hand");
    return;
  }
  add_config(*inputs.checkpoint, items);
  if (inputs.pool) {
    add_weights(inputs, *inputs.pool, items);
  } else {
    ThreadPool alone(1);
    add_weights(inputs, alone, items);
  }
}

}  // namespace isobit

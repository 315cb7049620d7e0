// Proof that the comparison with transformers sees each feature: an engine that ignored a field of
// a configuration would compute the model whose configuration has another value there. Each of
// those must be further from the recorded logits than the tolerance.
#include <doctest/doctest.h>

#include <cstdio>
#include <functional>

#include "base/error.h"
#include "kernels/registry.h"
#include "tests/engine/architecture_fixture.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

struct Fault {
  const char* fixture;
  const char* what;
  std::function<void(Json& config, Json& tensors)> plant;
};

// What no configuration can say, planted in what was read from one.
struct ReadFault {
  const char* fixture;
  const char* what;
  std::function<void(ModelConfig& config)> plant;
};

// An opened checkpoint with another description.
class Redescribed : public Checkpoint {
 public:
  Redescribed(const Checkpoint& opened, const std::function<void(ModelConfig&)>& edit) {
    config_ = opened.config();
    tensors_ = opened.tensors();
    path_ = opened.path();
    edit(config_);
  }
  void release(const TensorView&) const override {}
  void release(std::span<const std::byte>) const override {}
};

std::function<void(Json&, Json&)> set(const char* key, Json value) {
  return [key, value](Json& config, Json&) { config[key] = value; };
}

std::function<void(Json&, Json&)> set_rope(const char* key, Json value) {
  return [key, value](Json& config, Json&) { config["rope_parameters"][key] = value; };
}

// No tensor whose name contains `part`.
void drop(Json& tensors, const std::string& part) {
  Json kept = Json::array();
  for (const Json& t : tensors) {
    if (t["name"].get<std::string>().find(part) == std::string::npos) kept.push_back(t);
  }
  tensors = kept;
}

// A vector of one value: a norm without its weight.
void flatten_to(Json& tensors, const std::string& part, double value) {
  for (Json& t : tensors) {
    if (t["name"].get<std::string>().find(part) == std::string::npos) continue;
    t["scale"] = 0.0;
    t["offset"] = value;
  }
}

void without_qk_norm(Json& config, Json& tensors) {
  config["architectures"] = {"LlamaForCausalLM"};
  config["model_type"] = "llama";
  config.erase("layer_types");
  config.erase("sliding_window");
  drop(tensors, "self_attn.q_norm");
  drop(tensors, "self_attn.k_norm");
}

void swap_thetas(Json& config, Json&) {
  Json& rope = config["rope_parameters"];
  std::swap(rope["full_attention"]["rope_theta"], rope["sliding_attention"]["rope_theta"]);
}

void without_bias(const char* part, const char* field, Json& config, Json& tensors) {
  config[field] = false;
  Json kept = Json::array();
  for (const Json& t : tensors) {
    const std::string name = t["name"];
    if (name.find(part) == std::string::npos || !name.ends_with(".bias")) kept.push_back(t);
  }
  tensors = kept;
}

const std::vector<Fault>& faults() {
  using std::placeholders::_1, std::placeholders::_2;
  static const Json kAllGlobal = {"full_attention", "full_attention", "full_attention",
                                  "full_attention"};
  static const std::vector<Fault> kFaults = {
      {"llama", "another epsilon", set("rms_norm_eps", 1e-6)},
      {"llama", "another theta", set_rope("rope_theta", 12000.0)},
      {"llama3", "no scaling", set_rope("rope_type", "default")},
      {"llama3", "another low_freq_factor", set_rope("low_freq_factor", 1.5)},
      {"llama3", "another high_freq_factor", set_rope("high_freq_factor", 3.0)},
      {"llama3", "another original length", set_rope("original_max_position_embeddings", 96)},
      {"llama-linear", "no scaling", set_rope("rope_type", "default")},
      {"llama-yarn", "no scaling", set_rope("rope_type", "default")},
      {"llama-yarn", "linear scaling", set_rope("rope_type", "linear")},
      {"llama-yarn", "attention not scaled", set_rope("attention_factor", 1.0)},
      {"llama-yarn", "another beta_slow", set_rope("beta_slow", 2.0)},
      {"llama-yarn", "another beta_fast", set_rope("beta_fast", 16.0)},
      {"llama-bias", "no attention bias",
       std::bind(without_bias, "attn", "attention_bias", _1, _2)},
      {"llama-bias", "no MLP bias", std::bind(without_bias, "mlp", "mlp_bias", _1, _2)},
      {"mistral", "a window of one more", set("sliding_window", 25)},
      {"mistral", "a window of one less", set("sliding_window", 23)},
      {"mistral", "no window", set("sliding_window", nullptr)},
      {"qwen2-window", "the window in other layers",
       set("layer_types",
           {"sliding_attention", "sliding_attention", "full_attention", "full_attention"})},
      {"qwen2-window", "no window", set("layer_types", kAllGlobal)},
      {"qwen3", "no norm of queries and keys", without_qk_norm},
      {"qwen3", "the query norm's weight ignored",
       [](Json&, Json& tensors) { flatten_to(tensors, "q_norm", 1); }},
      {"phi3", "no window", set("sliding_window", nullptr)},
      {"phi3-partial", "all of a head rotated", set_rope("partial_rotary_factor", 1.0)},
      {"phi3-short", "factors ignored", set_rope("rope_type", "default")},
      {"phi3-short", "the long factors",
       [](Json& config, Json&) {
         std::swap(config["rope_parameters"]["short_factor"],
                   config["rope_parameters"]["long_factor"]);
       }},
      {"phi3-long", "the short factors",
       [](Json& config, Json&) {
         std::swap(config["rope_parameters"]["short_factor"],
                   config["rope_parameters"]["long_factor"]);
       }},
      {"phi3-long", "attention not scaled", set_rope("attention_factor", 1.0)},
      {"gemma2", "no cap of scores", set("attn_logit_softcapping", nullptr)},
      {"gemma2", "no cap of logits", set("final_logit_softcapping", nullptr)},
      {"gemma2", "scores scaled by the head's size", set("query_pre_attn_scalar", 24)},
      {"gemma2", "windows in the other layers",
       set("layer_types",
           {"full_attention", "sliding_attention", "full_attention", "sliding_attention"})},
      {"gemma2", "gelu by erf", set("hidden_activation", "gelu")},
      {"gemma3", "thetas exchanged", swap_thetas},
      {"gemma3", "global positions not scaled",
       [](Json& config, Json&) {
         config["rope_parameters"]["full_attention"]["rope_type"] = "default";
       }},
      {"gemma3", "another window", set("sliding_window", 25)},
      {"gemma3", "scores scaled by the head's size", set("query_pre_attn_scalar", 32)},
      {"gemma3", "the key norm's weight ignored",
       [](Json&, Json& tensors) { flatten_to(tensors, "k_norm", 0); }},
      {"gemma3", "the post-norm's weight ignored",
       [](Json&, Json& tensors) { flatten_to(tensors, "post_feedforward_layernorm", 0); }},
      {"gemma3-multimodal", "another window",
       [](Json& config, Json&) { config["text_config"]["sliding_window"] = 25; }},
      {"olmo2", "the query norm's weight ignored",
       [](Json&, Json& tensors) { flatten_to(tensors, "q_norm", 1); }},
      {"olmo2", "the post-norm's weight ignored",
       [](Json&, Json& tensors) { flatten_to(tensors, "post_attention_layernorm", 1); }},
      {"smollm3", "every layer rotated", set("no_rope_layers", {1, 1, 1, 1, 1})},
      {"mixtral", "one expert", set("num_experts_per_tok", 1)},
      {"qwen3-moe", "not renormalised", set("norm_topk_prob", false)},
      {"qwen3-moe", "one expert less", set("num_experts_per_tok", 2)},
      {"qwen3-moe-mixed", "renormalised", set("norm_topk_prob", true)},
  };
  return kFaults;
}

const std::vector<ReadFault>& read_faults() {
  static const std::vector<ReadFault> kFaults = {
      {"qwen2", "biases ignored", [](ModelConfig& c) { c.qkv_bias = false; }},
      {"llama-bias", "the output's bias ignored",
       [](ModelConfig& c) { c.attention_out_bias = false; }},
      {"qwen3", "queries and keys not normed",
       [](ModelConfig& c) { c.query_key_norm = QueryKeyNorm::kNone; }},
      {"olmo2", "queries and keys not normed",
       [](ModelConfig& c) { c.query_key_norm = QueryKeyNorm::kNone; }},
      {"gemma3", "queries and keys not normed",
       [](ModelConfig& c) { c.query_key_norm = QueryKeyNorm::kNone; }},
      {"gemma2", "embedding not scaled", [](ModelConfig& c) { c.scaled_embedding = false; }},
      {"gemma3", "embedding not scaled", [](ModelConfig& c) { c.scaled_embedding = false; }},
      {"gemma2", "norms without the 1", [](ModelConfig& c) { c.norm_adds_one = false; }},
      {"gemma3", "norms without the 1", [](ModelConfig& c) { c.norm_adds_one = false; }},
      {"gemma3", "silu for gelu", [](ModelConfig& c) { c.activation = Activation::kSilu; }},
      {"gemma3", "local layers turned as global ones",
       [](ModelConfig& c) {
         for (LayerConfig& layer : c.layers) layer.rope = c.layers.back().rope;
       }},
      {"smollm3", "every layer turned", [](ModelConfig& c) { c.layers[3].rope = 0; }},
      {"mixtral", "not renormalised", [](ModelConfig& c) { c.experts.renormalise = false; }},
      {"llama", "tied head", [](ModelConfig& c) { c.tied_head = true; }},
  };
  return kFaults;
}

double share_of(const Checkpoint& checkpoint, const Json& fixture) {
  EngineOptions options;
  options.kv_dtype = KvDType::kF32;
  options.max_batch_requests = 16;
  ThreadPool pool(2);
  const Model model(checkpoint, kernel_set("cpu"), pool);
  return difference(fixture, computed_rows(model, fixture, options, pool)).share;
}

void check_far(const char* name, const char* what, double share, const Json& fixture) {
  std::printf("%s, %s: %.1e\n", name, what, share);
  CHECK(share > 2 * fixture["tolerance"].get<double>());
}

}  // namespace

TEST_CASE("a model that lacks one feature is further from transformers than the tolerance") {
  for (const Fault& fault : faults()) {
    const std::string name = fault.fixture;
    Json fixture = architecture_fixture(name);
    fault.plant(fixture["config"], fixture["tensors"]);
    CAPTURE(name);
    INFO(std::string(fault.what));
    try {
      const WrittenModel model(fixture["config"], fixture["tensors"]);
      check_far(fault.fixture, fault.what, share_of(model.checkpoint(), fixture), fixture);
    } catch (const Error& e) {
      FAIL_CHECK(std::string(e.what()));
    }
  }
}

TEST_CASE(
    "an engine that leaves one operator out is further from transformers than the tolerance") {
  for (const ReadFault& fault : read_faults()) {
    const std::string name = fault.fixture;
    const Json fixture = architecture_fixture(name);
    CAPTURE(name);
    INFO(std::string(fault.what));
    const WrittenModel model(fixture["config"], fixture["tensors"]);
    check_far(fault.fixture, fault.what,
              share_of(Redescribed(model.checkpoint(), fault.plant), fixture), fixture);
  }
}

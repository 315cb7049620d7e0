#include "app/model_words.h"

#include <fmt/format.h>

namespace isobit::app {
namespace {

const char* kind_name(RopeKind kind) {
  static constexpr const char* kNames[] = {"default", "linear", "llama3", "yarn", "longrope"};
  return kNames[static_cast<size_t>(kind)];
}

const char* activation_name(Activation activation) {
  static constexpr const char* kNames[] = {"silu", "gelu (tanh)", "gelu (erf)"};
  return kNames[static_cast<size_t>(activation)];
}

std::string rope_words(const RopeConfig& rope) {
  std::string out = fmt::format("theta {}", rope.theta);
  if (rope.kind == RopeKind::kLongrope) {
    out += ", longrope";
  } else if (rope.kind != RopeKind::kPlain) {
    out += fmt::format(", {} by {}", kind_name(rope.kind), rope.factor);
  }
  if (!rope.divisors.empty()) out += ", with factors";
  return out;
}

std::string position_words(const ModelConfig& c) {
  std::string out = rope_words(c.ropes[0]);
  if (c.rotary_elems() != c.head_dim)
    out += fmt::format(", over {} of {} elements of a head", c.rotary_elems(), c.head_dim);
  if (c.ropes.size() > 1) out += "; under a window " + rope_words(c.ropes[1]);
  int64_t n_without = 0;
  for (const LayerConfig& layer : c.layers) n_without += layer.rope ? 0 : 1;
  if (n_without > 0) out += fmt::format("; none in {} of {} layers", n_without, c.n_layers);
  return out;
}

// The window of some layer, and in how many there is one.
std::pair<int64_t, int64_t> window_of(const ModelConfig& c) {
  std::pair<int64_t, int64_t> found{0, 0};
  for (const LayerConfig& layer : c.layers) {
    if (layer.window > 0) found = {layer.window, found.second + 1};
  }
  return found;
}

int64_t layers_with_experts(const ModelConfig& c) {
  int64_t n = 0;
  for (const LayerConfig& layer : c.layers) n += layer.has_experts ? 1 : 0;
  return n;
}

std::string norm_words(const ModelConfig& c) {
  const char* where = !c.norms_before ? "after attention and MLP"
                      : c.norms_after ? "before and after attention and MLP"
                                      : "before attention and MLP";
  const char* heads[] = {"", "; of queries and keys, per head",
                         "; of queries and keys, over all heads"};
  return fmt::format("{}{}; eps {}", where, heads[static_cast<size_t>(c.query_key_norm)],
                     static_cast<float>(c.rms_norm_eps));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> model_words(const ModelConfig& c) {
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("positions", position_words(c));
  if (const auto [window, n] = window_of(c); n > 0)
    out.emplace_back("window", fmt::format("{} tokens, in {} of {} layers", window, n, c.n_layers));
  out.emplace_back("norms", norm_words(c));
  out.emplace_back("activation", activation_name(c.activation));
  if (c.experts.n > 0) {
    out.emplace_back("experts",
                     fmt::format("{} of {} a token, {} wide, in {} of {} layers", c.experts.top_k,
                                 c.experts.n, c.experts.width, layers_with_experts(c), c.n_layers));
  }
  if (c.attention_soft_cap > 0 || c.final_soft_cap > 0)
    out.emplace_back("soft caps", fmt::format("scores {}, logits {} (0: none)",
                                              c.attention_soft_cap, c.final_soft_cap));
  return out;
}

Json model_features_json(const ModelConfig& c) {
  Json out = Json::object();
  for (const RopeConfig& rope : c.ropes) {
    out["ropes"].push_back({{"type", kind_name(rope.kind)},
                            {"theta", rope.theta},
                            {"factor", rope.factor},
                            {"attention_factor", rope_attention_factor(rope)},
                            {"has_factors", !rope.divisors.empty()}});
  }
  out["rotary_dim"] = c.rotary_elems();
  for (int64_t i = 0; i < c.n_layers; ++i) {
    const LayerConfig layer = c.layer(i);
    out["layers"].push_back({{"window", layer.window},
                             {"rope", layer.rope ? Json(*layer.rope) : Json()},
                             {"experts", layer.has_experts}});
  }
  out["norms_before"] = c.norms_before;
  out["norms_after"] = c.norms_after;
  static constexpr const char* kNorms[] = {"none", "per_head", "all_heads"};
  out["query_key_norm"] = kNorms[static_cast<size_t>(c.query_key_norm)];
  out["activation"] = activation_name(c.activation);
  out["scaled_embedding"] = c.scaled_embedding;
  out["attention_soft_cap"] = c.attention_soft_cap;
  out["final_soft_cap"] = c.final_soft_cap;
  out["experts"] = {{"n", c.experts.n},
                    {"top_k", c.experts.top_k},
                    {"width", c.experts.width},
                    {"renormalise", c.experts.renormalise}};
  return out;
}

}  // namespace isobit::app

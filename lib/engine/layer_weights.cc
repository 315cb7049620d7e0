#include "engine/layer_weights.h"

#include "base/error.h"
#include "checkpoint/refusal.h"
#include "checkpoint/tensor_names.h"
#include "numeric/dequantise.h"

namespace isobit {
namespace {

// An FP8 matrix as F32: no kernel multiplies FP8.
struct Widened {
  std::vector<float> values;
  TensorView view;

  Widened(const TensorView& stored, ThreadPool& pool)
      : values(static_cast<size_t>(stored.n_elems())) {
    pool.run(static_cast<size_t>(stored.n_rows()), [&](size_t row, int) {
      dequantise_tensor_row(stored, static_cast<int64_t>(row),
                            values.data() + row * static_cast<size_t>(stored.row_elems()));
    });
    view.name = stored.name;
    view.shape = stored.shape;
    view.bytes = std::as_bytes(std::span(values));
  }
};

}  // namespace

const TensorView& WeightLoader::checked(const std::string& name,
                                        const std::vector<int64_t>& shape) const {
  const TensorView& t = checkpoint_.tensor(name);
  const std::string where = "checkpoint '" + checkpoint_.path() + "': tensor '" + name + "'";
  if (t.shape != shape) {
    throw Error(ErrorCode::environment, where + " has shape " + shape_text(t.shape) +
                                            ", the configuration asks for " + shape_text(shape));
  }
  if (!engine_reads(t.dtype)) {
    throw Error(ErrorCode::environment,
                where + " has the dtype " + std::string(isobit::name(t.dtype)) +
                    ", which this engine does not compute with",
                "use a file in F32, F16, BF16, FP8 (E4M3) or a block type of GGUF");
  }
  return t;
}

std::vector<float> WeightLoader::vector_tensor(const std::string& name, int64_t n) const {
  const TensorView& t = checked(name, {n});
  std::vector<float> stored(static_cast<size_t>(n)), out(stored.size());
  dequantise_row(t.dtype, t.bytes.data(), n, stored.data());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = stored[static_cast<size_t>(t.stored_row(static_cast<int64_t>(i)))];
  return out;
}

std::vector<float> WeightLoader::norm(const std::string& name, int64_t n) const {
  if (name.empty()) return {};
  std::vector<float> w = vector_tensor(name, n);
  if (checkpoint_.config().norm_adds_one) {
    for (float& v : w) v = 1.0f + v;
  }
  return w;
}

std::unique_ptr<PackedMatrix> WeightLoader::pack(const std::vector<Part>& parts, int64_t n_in,
                                                 int64_t n_segments) {
  std::vector<MatrixPart> stack;
  std::vector<std::vector<float>> biases;
  std::vector<std::unique_ptr<Widened>> widened;
  biases.reserve(parts.size());
  for (const Part& part : parts) {
    const TensorView& stored = checked(part.name, {part.n_out, n_in});
    biases.push_back(part.bias.empty() ? std::vector<float>{}
                                       : vector_tensor(part.bias, part.n_out));
    stack.push_back({.weight = &stored, .bias = biases.back()});
    if (engine_supports(stored.dtype)) continue;
    widened.push_back(std::make_unique<Widened>(stored, pool_));
    stack.back().weight = &widened.back()->view;
  }
  auto packed = kernels_.pack(stack, n_segments, pool_);
  packed_bytes_ += packed->packed_bytes;
  for (const Part& part : parts) checkpoint_.release(checkpoint_.tensor(part.name));
  return packed;
}

void WeightLoader::load_attention(LayerWeights& layer, const std::string& prefix) {
  const ModelConfig& c = checkpoint_.config();
  const int64_t q_dim = c.n_heads * c.head_dim, kv_dim = c.n_kv_heads * c.head_dim;
  const std::string at = prefix + "self_attn.";
  const auto part = [&](const char* name, int64_t n_out, bool has_bias) {
    return Part{at + name + ".weight", n_out, has_bias ? at + name + ".bias" : ""};
  };
  layer.qkv = has_fused_projections(c)
                  ? pack({part("qkv_proj", q_dim + 2 * kv_dim, false)}, c.hidden_size, 1)
                  : pack({part("q_proj", q_dim, c.qkv_bias), part("k_proj", kv_dim, c.qkv_bias),
                          part("v_proj", kv_dim, c.qkv_bias)},
                         c.hidden_size, 1);
  layer.attention_out =
      pack({part("o_proj", c.hidden_size, c.attention_out_bias)}, q_dim, c.n_segments());
  if (c.query_key_norm == QueryKeyNorm::kNone) return;
  const bool per_head = c.query_key_norm == QueryKeyNorm::kPerHead;
  layer.query_norm = norm(at + "q_norm.weight", per_head ? c.head_dim : q_dim);
  layer.key_norm = norm(at + "k_norm.weight", per_head ? c.head_dim : kv_dim);
}

void WeightLoader::load_mlp(LayerWeights& layer, const std::string& prefix) {
  const ModelConfig& c = checkpoint_.config();
  const auto part = [&](const char* name, int64_t n_out) {
    const std::string at = prefix + "mlp." + name;
    return Part{at + ".weight", n_out, c.mlp_bias ? at + ".bias" : ""};
  };
  layer.gate_up =
      has_fused_projections(c)
          ? pack({part("gate_up_proj", 2 * c.intermediate_size)}, c.hidden_size, 1)
          : pack({part("gate_proj", c.intermediate_size), part("up_proj", c.intermediate_size)},
                 c.hidden_size, 1);
  layer.down = pack({part("down_proj", c.hidden_size)}, c.intermediate_size, c.n_segments());
}

void WeightLoader::load_experts(LayerWeights& layer) {
  const ModelConfig& c = checkpoint_.config();
  layer.router = pack({{router_name(c, layer.index), c.experts.n, ""}}, c.hidden_size, 1);
  for (int64_t e = 0; e < c.experts.n; ++e) {
    const ExpertNames names = expert_names(c, layer.index, e);
    ExpertWeights& expert = layer.experts.emplace_back();
    expert.gate_up = pack({{names.gate, c.experts.width, ""}, {names.up, c.experts.width, ""}},
                          c.hidden_size, 1);
    expert.down = pack({{names.down, c.hidden_size, ""}}, c.experts.width, c.n_segments());
  }
}

LayerWeights WeightLoader::layer(int64_t index) {
  const ModelConfig& c = checkpoint_.config();
  const LayerNormNames norms = layer_norm_names(c, index);
  const std::string prefix = layer_tensor_name(index, "");
  LayerWeights layer;
  layer.index = index;
  layer.config = c.layer(index);
  layer.attention_norm = norm(norms.attention, c.hidden_size);
  layer.mlp_norm = norm(norms.mlp, c.hidden_size);
  load_attention(layer, prefix);
  layer.config.has_experts ? load_experts(layer) : load_mlp(layer, prefix);
  layer.attention_out_norm = norm(norms.attention_after, c.hidden_size);
  layer.mlp_out_norm = norm(norms.mlp_after, c.hidden_size);
  return layer;
}

}  // namespace isobit

#include "engine/model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "numeric/dequantise.h"
#include "tensor/half.h"

namespace isobit {
namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;

// Contract section 3, row attention: binary64 until the one rounding.
AttentionShape attention_shape(const ModelConfig& c) {
  const double root = std::sqrt(static_cast<double>(c.head_dim));
  AttentionShape shape{.n_heads = c.n_heads, .n_kv_heads = c.n_kv_heads, .head_dim = c.head_dim};
  if (c.attention_soft_cap > 0) {
    shape.score_scale = static_cast<float>(c.attention_multiplier.value_or(1.0 / root));
    shape.soft_cap = static_cast<float>(c.attention_soft_cap);
    shape.cap_scale = static_cast<float>(c.attention_soft_cap * kLog2E);
  } else {
    shape.score_scale = static_cast<float>(c.attention_multiplier ? *c.attention_multiplier * kLog2E
                                                                  : kLog2E / root);
  }
  return shape;
}

RopeTable rope_table(const ModelConfig& c, const RopeConfig& rope, int64_t n_positions) {
  return make_rope_table(rope_inverse_frequencies(rope, c.rotary_elems()), n_positions,
                         rope_attention_factor(rope));
}

void grow(AlignedFloats& buffer, int64_t n) {
  if (buffer.size() < static_cast<size_t>(n)) buffer.resize(static_cast<size_t>(n));
}

void show(const OperatorObserver& observe, Operator op, int64_t layer, const AlignedFloats& values,
          int64_t n_rows, int64_t width) {
  if (!observe) return;
  observe({.op = op, .layer = layer, .values = values.data(), .n_rows = n_rows, .width = width});
}

// What kv_write wrote, as attention will read it.
void show_cached(const OperatorObserver& observe, int64_t layer, const BatchView& batch,
                 const KvLayerView& cache, AlignedFloats& buffer) {
  if (!observe) return;
  const int64_t width = 2 * cache.n_kv_heads * cache.head_dim;
  grow(buffer, batch.n_rows * width);
  for (int64_t r = 0; r < batch.n_rows; ++r) {
    const int64_t position = batch.positions[r];
    const int32_t* table = batch.block_tables[batch.sequence_of_row[r]];
    read_kv_entry(cache, table[position / kKvBlockTokens], position % kKvBlockTokens,
                  buffer.data() + r * width);
  }
  show(observe, Operator::kKvWrite, layer, buffer, batch.n_rows, width);
}

void round_to_bf16(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = f32_from_bf16(bf16_from_f32(x[i]));
}

}  // namespace

Model::Model(const Checkpoint& checkpoint, const KernelSet& kernels, ThreadPool& pool)
    : config_(checkpoint.config()), kernels_(kernels) {
  set_ieee_float_environment();  // what follows computes on the calling thread too
  const ModelConfig& c = config_;
  rms_norm_eps_ = static_cast<float>(c.rms_norm_eps);
  attention_shape_ = attention_shape(c);
  WeightLoader loader(checkpoint, kernels, pool);
  const std::string embedding_name = "model.embed_tokens.weight";
  embedding_ = &loader.checked(embedding_name, {c.vocab_size, c.hidden_size});
  final_norm_ = loader.norm("model.norm.weight", c.hidden_size);
  for (int64_t i = 0; i < c.n_layers; ++i) layers_.push_back(loader.layer(i));
  head_ = loader.pack({{c.tied_head ? embedding_name : "lm_head.weight", c.vocab_size, ""}},
                      c.hidden_size, 1);
  packed_bytes_ = loader.packed_bytes();
}

KvShape Model::kv_shape(KvDType dtype) const {
  return {.n_layers = config_.n_layers,
          .n_kv_heads = config_.n_kv_heads,
          .head_dim = config_.head_dim,
          .dtype = dtype};
}

std::shared_ptr<const std::vector<RopeTable>> Model::ropes_up_to(int64_t last_position,
                                                                 ThreadPool& pool) const {
  constexpr int64_t kFewest = 2048;
  ISOBIT_REQUIRE(last_position < config_.max_positions);
  const std::lock_guard lock(ropes_mutex_);
  if (ropes_ && (*ropes_)[0].n_positions > last_position) return ropes_;
  int64_t n_positions = kFewest;
  while (n_positions <= last_position) n_positions *= 2;
  n_positions = std::min(n_positions, config_.max_positions);
  auto made = std::make_shared<std::vector<RopeTable>>(config_.ropes.size());
  pool.run(made->size(),
           [&](size_t i, int) { (*made)[i] = rope_table(config_, config_.ropes[i], n_positions); });
  return ropes_ = made;
}

void Model::embed(std::span<const int32_t> token_ids, float* out, ThreadPool& pool) const {
  const int64_t dim = config_.hidden_size;
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(dim)));
  pool.run(token_ids.size(), [&](size_t r, int) {
    float* row = out + static_cast<int64_t>(r) * dim;
    dequantise_tensor_row(*embedding_, token_ids[r], row);
    if (config_.scaled_embedding) {
      for (int64_t i = 0; i < dim; ++i) row[i] = row[i] * scale;
    }
    if (kernels_.rounds_activations_to_bf16) round_to_bf16(row, dim);
  });
}

// What a block reads: the normed residual stream, or where the model has no norm here the stream
// itself.
const float* Model::normed(const std::vector<float>& weights, const float* x, int64_t n_rows,
                           StepBuffers& b, ThreadPool& pool) const {
  if (weights.empty()) return x;
  kernels_.rms_norm(x, weights.data(), rms_norm_eps_, n_rows, config_.hidden_size, b.normed.data(),
                    pool);
  return b.normed.data();
}

// The norm on a block's output, where the model has one.
void Model::norm_projected(const std::vector<float>& weights, int64_t n_rows, StepBuffers& b,
                           ThreadPool& pool) const {
  if (weights.empty()) return;
  kernels_.rms_norm(b.projected.data(), weights.data(), rms_norm_eps_, n_rows, config_.hidden_size,
                    b.projected.data(), pool);
}

void Model::turn_queries_and_keys(const LayerWeights& layer, const BatchView& batch, StepBuffers& b,
                                  ThreadPool& pool, const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const int64_t q_dim = c.n_heads * c.head_dim, stride = q_dim + 2 * c.n_kv_heads * c.head_dim;
  float* q = b.qkv.data();
  float* k = q + q_dim;
  const auto shown = [&](Operator op) {
    show(observe, op, layer.index, b.qkv, batch.n_rows, stride);
  };
  if (!layer.query_norm.empty()) {
    const bool per_head = c.query_key_norm == QueryKeyNorm::kPerHead;
    const auto norm = [&](float* x, int64_t n_heads, const std::vector<float>& w) {
      kernels_.norm_heads(x, stride, per_head ? n_heads : 1,
                          per_head ? c.head_dim : n_heads * c.head_dim, w.data(), rms_norm_eps_,
                          batch.n_rows, pool);
    };
    norm(q, c.n_heads, layer.query_norm);
    norm(k, c.n_kv_heads, layer.key_norm);
    shown(Operator::kQueryKeyNorm);
  }
  if (!layer.config.rope) return;
  const RopeTable& table = (*b.ropes)[*layer.config.rope];
  const RopeView rope{.cos = table.cos.data(),
                      .sin = table.sin.data(),
                      .head_dim = c.head_dim,
                      .rotary_dim = c.rotary_elems()};
  kernels_.rope(q, stride, c.n_heads, rope, batch, pool);
  kernels_.rope(k, stride, c.n_kv_heads, rope, batch, pool);
  shown(Operator::kRope);
}

void Model::attention_block(const LayerWeights& layer, const BatchView& batch,
                            const KvLayerView& cache, StepBuffers& b, ThreadPool& pool,
                            const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const int64_t q_dim = c.n_heads * c.head_dim, kv_dim = c.n_kv_heads * c.head_dim,
                stride = q_dim + 2 * kv_dim;
  const auto shown = [&](Operator op, const AlignedFloats& values, int64_t width) {
    show(observe, op, layer.index, values, batch.n_rows, width);
  };
  const float* in = normed(layer.attention_norm, b.hidden.data(), batch.n_rows, b, pool);
  if (!layer.attention_norm.empty()) shown(Operator::kAttentionNorm, b.normed, c.hidden_size);
  float* q = b.qkv.data();
  kernels_.matmul(*layer.qkv, in, batch.n_rows, q, pool);
  shown(Operator::kQkv, b.qkv, stride);
  turn_queries_and_keys(layer, batch, b, pool, observe);
  kernels_.kv_write(q + q_dim, q + q_dim + kv_dim, stride, batch, cache, pool);
  show_cached(observe, layer.index, batch, cache, b.cached);
  AttentionShape shape = attention_shape_;
  shape.window = layer.config.window;
  kernels_.attention(q, stride, shape, batch, cache, b.attended.data(), pool);
  shown(Operator::kAttention, b.attended, q_dim);
  kernels_.matmul(*layer.attention_out, b.attended.data(), batch.n_rows, b.projected.data(), pool);
  shown(Operator::kAttentionOut, b.projected, c.hidden_size);
  norm_projected(layer.attention_out_norm, batch.n_rows, b, pool);
  if (!layer.attention_out_norm.empty())
    shown(Operator::kAttentionOutNorm, b.projected, c.hidden_size);
  kernels_.residual(b.hidden.data(), b.projected.data(), batch.n_rows * c.hidden_size, pool);
  shown(Operator::kAttentionResidual, b.hidden, c.hidden_size);
}

void Model::dense_mlp(const LayerWeights& layer, const float* x, int64_t n_rows, StepBuffers& b,
                      ThreadPool& pool, const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const auto shown = [&](Operator op, const AlignedFloats& values, int64_t width) {
    show(observe, op, layer.index, values, n_rows, width);
  };
  kernels_.matmul(*layer.gate_up, x, n_rows, b.gate_up.data(), pool);
  shown(Operator::kGateUp, b.gate_up, 2 * c.intermediate_size);
  activate(kernels_, c.activation, b.gate_up.data(), n_rows, c.intermediate_size,
           b.activated.data(), pool);
  shown(c.activation == Activation::kSilu ? Operator::kSiluMul : Operator::kGeluMul, b.activated,
        c.intermediate_size);
  kernels_.matmul(*layer.down, b.activated.data(), n_rows, b.projected.data(), pool);
  shown(Operator::kDown, b.projected, c.hidden_size);
}

void Model::mlp_block(const LayerWeights& layer, int64_t n_rows, StepBuffers& b, ThreadPool& pool,
                      const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const auto shown = [&](Operator op, const AlignedFloats& values, int64_t width) {
    show(observe, op, layer.index, values, n_rows, width);
  };
  const float* in = normed(layer.mlp_norm, b.hidden.data(), n_rows, b, pool);
  if (!layer.mlp_norm.empty()) shown(Operator::kMlpNorm, b.normed, c.hidden_size);
  if (layer.config.has_experts) {
    mix_experts(layer, c, kernels_, in, n_rows, b.projected.data(), b.experts, pool);
    shown(Operator::kRouter, b.experts.router_logits, c.experts.n);
    shown(Operator::kExperts, b.projected, c.hidden_size);
  } else {
    dense_mlp(layer, in, n_rows, b, pool, observe);
  }
  norm_projected(layer.mlp_out_norm, n_rows, b, pool);
  if (!layer.mlp_out_norm.empty()) shown(Operator::kMlpOutNorm, b.projected, c.hidden_size);
  kernels_.residual(b.hidden.data(), b.projected.data(), n_rows * c.hidden_size, pool);
  shown(Operator::kMlpResidual, b.hidden, c.hidden_size);
}

void Model::score_rows(std::span<const int64_t> logits_rows, StepBuffers& b, ThreadPool& pool,
                       const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const auto n_logits = static_cast<int64_t>(logits_rows.size());
  for (int64_t i = 0; i < n_logits; ++i) {
    const float* row = b.hidden.data() + logits_rows[static_cast<size_t>(i)] * c.hidden_size;
    std::copy(row, row + c.hidden_size, b.logits_in.data() + i * c.hidden_size);
  }
  kernels_.rms_norm(b.logits_in.data(), final_norm_.data(), rms_norm_eps_, n_logits, c.hidden_size,
                    b.logits_in.data(), pool);
  show(observe, Operator::kFinalNorm, c.n_layers, b.logits_in, n_logits, c.hidden_size);
  kernels_.matmul(*head_, b.logits_in.data(), n_logits, b.logits.data(), pool);
  show(observe, Operator::kHead, c.n_layers, b.logits, n_logits, c.vocab_size);
  if (c.final_soft_cap <= 0) return;
  kernels_.soft_cap(b.logits.data(), n_logits * c.vocab_size, static_cast<float>(c.final_soft_cap),
                    pool);
  show(observe, Operator::kFinalSoftCap, c.n_layers, b.logits, n_logits, c.vocab_size);
}

void Model::forward(std::span<const int32_t> token_ids, const BatchView& batch,
                    std::span<const int64_t> logits_rows, KvCache& cache, StepBuffers& b,
                    ThreadPool& pool, const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const int64_t n_rows = batch.n_rows, n_logits = static_cast<int64_t>(logits_rows.size());
  ISOBIT_REQUIRE(n_rows > 0 && static_cast<int64_t>(token_ids.size()) == n_rows);
  grow(b.hidden, n_rows * c.hidden_size);
  grow(b.normed, n_rows * c.hidden_size);
  grow(b.projected, n_rows * c.hidden_size);
  grow(b.qkv, n_rows * (c.n_heads + 2 * c.n_kv_heads) * c.head_dim);
  grow(b.attended, n_rows * c.n_heads * c.head_dim);
  grow(b.gate_up, n_rows * 2 * c.intermediate_size);
  grow(b.activated, n_rows * c.intermediate_size);
  grow(b.logits_in, n_logits * c.hidden_size);
  grow(b.logits, n_logits * c.vocab_size);

  b.ropes = ropes_up_to(*std::max_element(batch.positions, batch.positions + n_rows), pool);
  embed(token_ids, b.hidden.data(), pool);
  show(observe, Operator::kEmbed, 0, b.hidden, n_rows, c.hidden_size);
  for (const LayerWeights& layer : layers_) {
    attention_block(layer, batch, cache.layer(layer.index), b, pool, observe);
    mlp_block(layer, n_rows, b, pool, observe);
  }
  if (n_logits > 0) score_rows(logits_rows, b, pool, observe);
}

}  // namespace isobit

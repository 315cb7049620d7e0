#include "engine/model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "numeric/dequantise.h"
#include "tensor/half.h"

namespace isobit {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + ")";
}

const TensorView& checked(const Checkpoint& checkpoint, const std::string& name,
                          const std::vector<int64_t>& shape) {
  const TensorView& t = checkpoint.tensor(name);
  if (t.shape != shape) {
    throw Error(ErrorCode::environment, "checkpoint '" + checkpoint.path() + "': tensor '" + name +
                                            "' has shape " + shape_text(t.shape) +
                                            ", the configuration asks for " + shape_text(shape));
  }
  if (!engine_supports(t.dtype)) {
    throw Error(ErrorCode::environment,
                "checkpoint '" + checkpoint.path() + "': tensor '" + name + "' has the dtype " +
                    std::string(isobit::name(t.dtype)) +
                    ", which this engine does not compute with",
                "use a file in F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q4_K or Q6_K");
  }
  return t;
}

std::vector<float> vector_tensor(const Checkpoint& checkpoint, const std::string& name, int64_t n) {
  const TensorView& t = checked(checkpoint, name, {n});
  std::vector<float> out(static_cast<size_t>(n));
  dequantise_row(t.dtype, t.bytes.data(), n, out.data());
  return out;
}

std::string layer_name(int64_t index, const char* rest) {
  return "model.layers." + std::to_string(index) + "." + rest;
}

// c = RN(log2 e / sqrt(head_dim)): one binary64 sqrt and one division before the rounding (contract
// section 3).
float score_scale(int64_t head_dim) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  return static_cast<float>(kLog2E / std::sqrt(static_cast<double>(head_dim)));
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
  attention_shape_ = {.n_heads = c.n_heads,
                      .n_kv_heads = c.n_kv_heads,
                      .head_dim = c.head_dim,
                      .score_scale = score_scale(c.head_dim)};
  const std::string embedding_name = "model.embed_tokens.weight";
  embedding_ = &checked(checkpoint, embedding_name, {c.vocab_size, c.hidden_size});
  final_norm_ = vector_tensor(checkpoint, "model.norm.weight", c.hidden_size);
  for (int64_t i = 0; i < c.n_layers; ++i) layers_.push_back(load_layer(checkpoint, i, pool));
  const MatrixPart head{
      .weight = &checked(checkpoint, c.tied_head ? embedding_name : "lm_head.weight",
                         {c.vocab_size, c.hidden_size}),
      .bias = {}};
  head_ = pack(checkpoint, {&head, 1}, 1, pool);
  rope_ = make_rope_table(rope_inverse_frequencies(c.rope_theta, c.head_dim, c.rope_factors),
                          c.max_positions);
}

std::unique_ptr<PackedMatrix> Model::pack(const Checkpoint& checkpoint,
                                          std::span<const MatrixPart> parts, int64_t n_segments,
                                          ThreadPool& pool) {
  auto packed = kernels_.pack(parts, n_segments, pool);
  packed_bytes_ += packed->packed_bytes;
  for (const MatrixPart& part : parts) checkpoint.release(*part.weight);
  return packed;
}

Model::Layer Model::load_layer(const Checkpoint& checkpoint, int64_t index, ThreadPool& pool) {
  const ModelConfig& c = config_;
  const int64_t q_dim = c.n_heads * c.head_dim, kv_dim = c.n_kv_heads * c.head_dim;
  const auto matrix = [&](const char* rest, int64_t n_out, int64_t n_in) {
    return MatrixPart{.weight = &checked(checkpoint, layer_name(index, rest), {n_out, n_in}),
                      .bias = {}};
  };
  Layer layer;
  layer.index = index;
  layer.attention_norm =
      vector_tensor(checkpoint, layer_name(index, "input_layernorm.weight"), c.hidden_size);
  layer.mlp_norm = vector_tensor(checkpoint, layer_name(index, "post_attention_layernorm.weight"),
                                 c.hidden_size);

  MatrixPart qkv[] = {matrix("self_attn.q_proj.weight", q_dim, c.hidden_size),
                      matrix("self_attn.k_proj.weight", kv_dim, c.hidden_size),
                      matrix("self_attn.v_proj.weight", kv_dim, c.hidden_size)};
  std::vector<float> biases[3];
  if (c.qkv_bias) {
    const char* names[] = {"self_attn.q_proj.bias", "self_attn.k_proj.bias",
                           "self_attn.v_proj.bias"};
    for (int i = 0; i < 3; ++i) {
      biases[i] = vector_tensor(checkpoint, layer_name(index, names[i]), i == 0 ? q_dim : kv_dim);
      qkv[i].bias = biases[i];
    }
  }
  layer.qkv = pack(checkpoint, qkv, 1, pool);

  const int64_t n_segments = c.n_segments();
  const MatrixPart out = matrix("self_attn.o_proj.weight", c.hidden_size, q_dim);
  layer.attention_out = pack(checkpoint, {&out, 1}, n_segments, pool);
  const MatrixPart gate_up[] = {matrix("mlp.gate_proj.weight", c.intermediate_size, c.hidden_size),
                                matrix("mlp.up_proj.weight", c.intermediate_size, c.hidden_size)};
  layer.gate_up = pack(checkpoint, gate_up, 1, pool);
  const MatrixPart down = matrix("mlp.down_proj.weight", c.hidden_size, c.intermediate_size);
  layer.down = pack(checkpoint, {&down, 1}, n_segments, pool);
  return layer;
}

KvShape Model::kv_shape(KvDType dtype) const {
  return {.n_layers = config_.n_layers,
          .n_kv_heads = config_.n_kv_heads,
          .head_dim = config_.head_dim,
          .dtype = dtype};
}

void Model::embed(std::span<const int32_t> token_ids, float* out, ThreadPool& pool) const {
  const int64_t dim = config_.hidden_size;
  pool.run(token_ids.size(), [&](size_t r, int) {
    float* row = out + static_cast<int64_t>(r) * dim;
    dequantise_row(embedding_->dtype, embedding_->row(token_ids[r]), dim, row);
    if (kernels_.rounds_activations_to_bf16) round_to_bf16(row, dim);
  });
}

void Model::attention_block(const Layer& layer, const BatchView& batch, const KvLayerView& cache,
                            StepBuffers& b, ThreadPool& pool,
                            const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const int64_t q_dim = c.n_heads * c.head_dim, kv_dim = c.n_kv_heads * c.head_dim,
                stride = q_dim + 2 * kv_dim;
  const RopeView rope{.cos = rope_.cos.data(), .sin = rope_.sin.data(), .head_dim = c.head_dim};
  float* q = b.qkv.data();
  float* k = q + q_dim;
  float* v = k + kv_dim;
  const auto shown = [&](Operator op, const AlignedFloats& values, int64_t width) {
    show(observe, op, layer.index, values, batch.n_rows, width);
  };
  kernels_.rms_norm(b.hidden.data(), layer.attention_norm.data(), rms_norm_eps_, batch.n_rows,
                    c.hidden_size, b.normed.data(), pool);
  shown(Operator::kAttentionNorm, b.normed, c.hidden_size);
  kernels_.matmul(*layer.qkv, b.normed.data(), batch.n_rows, q, pool);
  shown(Operator::kQkv, b.qkv, stride);
  kernels_.rope(q, stride, c.n_heads, rope, batch, pool);
  kernels_.rope(k, stride, c.n_kv_heads, rope, batch, pool);
  shown(Operator::kRope, b.qkv, stride);
  kernels_.kv_write(k, v, stride, batch, cache, pool);
  show_cached(observe, layer.index, batch, cache, b.cached);
  kernels_.attention(q, stride, attention_shape_, batch, cache, b.attended.data(), pool);
  shown(Operator::kAttention, b.attended, q_dim);
  kernels_.matmul(*layer.attention_out, b.attended.data(), batch.n_rows, b.projected.data(), pool);
  shown(Operator::kAttentionOut, b.projected, c.hidden_size);
  kernels_.residual(b.hidden.data(), b.projected.data(), batch.n_rows * c.hidden_size, pool);
  shown(Operator::kAttentionResidual, b.hidden, c.hidden_size);
}

void Model::mlp_block(const Layer& layer, int64_t n_rows, StepBuffers& b, ThreadPool& pool,
                      const OperatorObserver& observe) const {
  const ModelConfig& c = config_;
  const auto shown = [&](Operator op, const AlignedFloats& values, int64_t width) {
    show(observe, op, layer.index, values, n_rows, width);
  };
  kernels_.rms_norm(b.hidden.data(), layer.mlp_norm.data(), rms_norm_eps_, n_rows, c.hidden_size,
                    b.normed.data(), pool);
  shown(Operator::kMlpNorm, b.normed, c.hidden_size);
  kernels_.matmul(*layer.gate_up, b.normed.data(), n_rows, b.gate_up.data(), pool);
  shown(Operator::kGateUp, b.gate_up, 2 * c.intermediate_size);
  kernels_.silu_mul(b.gate_up.data(), n_rows, c.intermediate_size, b.activated.data(), pool);
  shown(Operator::kSiluMul, b.activated, c.intermediate_size);
  kernels_.matmul(*layer.down, b.activated.data(), n_rows, b.projected.data(), pool);
  shown(Operator::kDown, b.projected, c.hidden_size);
  kernels_.residual(b.hidden.data(), b.projected.data(), n_rows * c.hidden_size, pool);
  shown(Operator::kMlpResidual, b.hidden, c.hidden_size);
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

  embed(token_ids, b.hidden.data(), pool);
  show(observe, Operator::kEmbed, 0, b.hidden, n_rows, c.hidden_size);
  for (const Layer& layer : layers_) {
    attention_block(layer, batch, cache.layer(layer.index), b, pool, observe);
    mlp_block(layer, n_rows, b, pool, observe);
  }
  if (n_logits == 0) return;
  for (int64_t i = 0; i < n_logits; ++i) {
    const float* row = b.hidden.data() + logits_rows[static_cast<size_t>(i)] * c.hidden_size;
    std::copy(row, row + c.hidden_size, b.logits_in.data() + i * c.hidden_size);
  }
  kernels_.rms_norm(b.logits_in.data(), final_norm_.data(), rms_norm_eps_, n_logits, c.hidden_size,
                    b.logits_in.data(), pool);
  show(observe, Operator::kFinalNorm, c.n_layers, b.logits_in, n_logits, c.hidden_size);
  kernels_.matmul(*head_, b.logits_in.data(), n_logits, b.logits.data(), pool);
  show(observe, Operator::kHead, c.n_layers, b.logits, n_logits, c.vocab_size);
}

}  // namespace isobit

// Checkpoints in memory of any architecture: every tensor that a configuration asks for, with
// values by formula (formula_weights.h), so that the engine's bits on it can be published. Needs
// the core only.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_names.h"
#include "tests/support/formula_weights.h"

namespace isobit::testing {

class ArchitectureCheckpoint : public Checkpoint {
 public:
  // `dtype`: of every tensor; with kF8E4M3 only the projections are, scaled by blocks of 128 x 128,
  // and the rest is BF16.
  explicit ArchitectureCheckpoint(const ModelConfig& config, DType dtype = DType::kBF16)
      : dtype_(dtype) {
    config_ = config;
    path_ = config.architecture;
    const ModelConfig& c = config_;
    matrix("model.embed_tokens.weight", c.vocab_size, c.hidden_size, 8);
    if (!c.tied_head) matrix("lm_head.weight", c.vocab_size, c.hidden_size, 2);
    norm("model.norm.weight", c.hidden_size);
    for (int64_t i = 0; i < c.n_layers; ++i) add_layer(i);
  }

  void release(const TensorView&) const override {}
  void release(std::span<const std::byte>) const override {}

 private:
  void add_layer(int64_t i) {
    const ModelConfig& c = config_;
    const LayerNormNames norms = layer_norm_names(c, i);
    for (const std::string& name :
         {norms.attention, norms.attention_after, norms.mlp, norms.mlp_after}) {
      if (!name.empty()) norm(name, c.hidden_size);
    }
    add_attention(layer_tensor_name(i, "self_attn."));
    if (c.layer(i).has_experts) return add_experts(i);
    const std::string at = layer_tensor_name(i, "mlp.");
    if (has_fused_projections(c)) {
      matrix(at + "gate_up_proj.weight", 2 * c.intermediate_size, c.hidden_size);
    } else {
      projection(at + "gate_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
      projection(at + "up_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
    }
    projection(at + "down_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  }

  void add_attention(const std::string& at) {
    const ModelConfig& c = config_;
    const int64_t q = c.n_heads * c.head_dim, kv = c.n_kv_heads * c.head_dim;
    if (has_fused_projections(c)) {
      matrix(at + "qkv_proj.weight", q + 2 * kv, c.hidden_size, 2);
    } else {
      projection(at + "q_proj", q, c.hidden_size, c.qkv_bias, 2);
      projection(at + "k_proj", kv, c.hidden_size, c.qkv_bias, 2);
      projection(at + "v_proj", kv, c.hidden_size, c.qkv_bias);
    }
    projection(at + "o_proj", c.hidden_size, q, c.attention_out_bias);
    if (c.query_key_norm == QueryKeyNorm::kNone) return;
    const bool per_head = c.query_key_norm == QueryKeyNorm::kPerHead;
    norm(at + "q_norm.weight", per_head ? c.head_dim : q);
    norm(at + "k_norm.weight", per_head ? c.head_dim : kv);
  }

  void add_experts(int64_t i) {
    const ModelConfig& c = config_;
    matrix(router_name(c, i), c.experts.n, c.hidden_size, 2);
    for (int64_t e = 0; e < c.experts.n; ++e) {
      const ExpertNames names = expert_names(c, i, e);
      matrix(names.gate, c.experts.width, c.hidden_size);
      matrix(names.up, c.experts.width, c.hidden_size);
      matrix(names.down, c.hidden_size, c.experts.width);
    }
  }

  void norm(const std::string& name, int64_t n) {
    add({.name = name,
         .dtype = plain(),
         .shape = {n},
         .scale = 0.5,
         .offset = config_.norm_adds_one ? 0.0 : 1.0});
  }
  void projection(const std::string& name, int64_t n_out, int64_t n_in, bool has_bias,
                  double gain = 1) {
    matrix(name + ".weight", n_out, n_in, gain);
    if (has_bias) add({.name = name + ".bias", .dtype = plain(), .shape = {n_out}, .scale = 0.5});
  }

  // Values that keep an output of the size of its input, times gain.
  void matrix(const std::string& name, int64_t n_out, int64_t n_in, double gain = 1) {
    double scale = 16;
    while (scale * scale * static_cast<double>(n_in) > 3 * gain * gain) scale /= 2;
    const bool fp8 = dtype_ == DType::kF8E4M3 && name.find("_proj.") != std::string::npos;
    if (!fp8)
      return static_cast<void>(
          add({.name = name, .dtype = plain(), .shape = {n_out, n_in}, .scale = scale}));
    constexpr int64_t kBlock = 128;
    const TensorView& scales =
        add({.name = name + "_scale_inv",
             .dtype = DType::kF32,
             .shape = {(n_out + kBlock - 1) / kBlock, (n_in + kBlock - 1) / kBlock},
             .kind = FormulaKind::kPositive,
             .scale = scale / 128});
    TensorView& weight = add({.name = name,
                              .dtype = DType::kF8E4M3,
                              .shape = {n_out, n_in},
                              .kind = FormulaKind::kE4M3});
    weight.scales = &scales;
    weight.scale_rows = weight.scale_columns = kBlock;
  }

  TensorView& add(const FormulaTensor& tensor) {
    const std::string& bytes = storage_.emplace(tensor.name, formula_bytes(tensor)).first->second;
    TensorView& view = tensors_[tensor.name];
    view.name = tensor.name;
    view.dtype = tensor.dtype;
    view.shape = tensor.shape;
    view.bytes = std::as_bytes(std::span(bytes));
    return view;
  }

  DType plain() const { return dtype_ == DType::kF8E4M3 ? DType::kBF16 : dtype_; }

  DType dtype_;
  std::map<std::string, std::string> storage_;  // a map keeps its strings in place
};

}  // namespace isobit::testing

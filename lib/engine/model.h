// A decoder of the Llama family or one of its relatives: packed weights and one forward step over
// the rows of a batch.
//
// The step is a list of the contract's operators in their order; it decides nothing about order or
// rounding itself. Which rows are in the step, and whose they are, reaches only attention and the
// cache, through BatchView.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "engine/experts.h"
#include "engine/kv_cache.h"
#include "engine/layer_weights.h"
#include "engine/operator_probe.h"
#include "kernels/ops.h"
#include "numeric/rope.h"
#include "tensor/aligned_floats.h"

namespace isobit {

// Buffers of a step, grown to the largest step seen and kept. All (n_rows, ...) row-major f32.
struct StepBuffers {
  AlignedFloats hidden;     // (n_rows, hidden_size): the residual stream
  AlignedFloats normed;     // (n_rows, hidden_size)
  AlignedFloats qkv;        // (n_rows, (n_heads + 2 n_kv_heads) * head_dim)
  AlignedFloats attended;   // (n_rows, n_heads * head_dim)
  AlignedFloats projected;  // (n_rows, hidden_size)
  AlignedFloats gate_up;    // (n_rows, 2 * intermediate_size)
  AlignedFloats activated;  // (n_rows, intermediate_size)
  AlignedFloats logits_in;  // (n_logits_rows, hidden_size)
  AlignedFloats logits;     // (n_logits_rows, vocab_size)
  AlignedFloats cached;     // (n_rows, 2 * n_kv_heads * head_dim): only for an observer
  ExpertBuffers experts;
  std::shared_ptr<const std::vector<RopeTable>> ropes;
};

class Model {
 public:
  // Checks the shape of every tensor, packs the weights for `kernels`, and gives the file's pages
  // back as it goes. Throws Error(environment) when the checkpoint lacks a tensor, or holds one of
  // a wrong shape or an unusable dtype. `checkpoint` must outlive the model: embedding rows are
  // read from the mapped file.
  Model(const Checkpoint& checkpoint, const KernelSet& kernels, ThreadPool& pool);

  const ModelConfig& config() const { return config_; }
  const KernelSet& kernels() const { return kernels_; }
  KvShape kv_shape(KvDType dtype) const;
  size_t packed_bytes() const { return packed_bytes_; }

  // token_ids (batch.n_rows). Writes keys and values of all rows to `cache`, and the logits of the
  // rows listed in `logits_rows` (ascending row indices) to buffers.logits. `observe`, when not
  // empty, sees the output of each operator.
  void forward(std::span<const int32_t> token_ids, const BatchView& batch,
               std::span<const int64_t> logits_rows, KvCache& cache, StepBuffers& buffers,
               ThreadPool& pool, const OperatorObserver& observe = {}) const;

 private:
  const float* normed(const std::vector<float>& weights, const float* x, int64_t n_rows,
                      StepBuffers& b, ThreadPool& pool) const;
  void norm_projected(const std::vector<float>& weights, int64_t n_rows, StepBuffers& b,
                      ThreadPool& pool) const;
  void embed(std::span<const int32_t> token_ids, float* out, ThreadPool& pool) const;
  // Tables for positions [0, last_position] at least. REQUIRES: last_position < max_positions.
  std::shared_ptr<const std::vector<RopeTable>> ropes_up_to(int64_t last_position,
                                                            ThreadPool& pool) const;
  void turn_queries_and_keys(const LayerWeights& layer, const BatchView& batch, StepBuffers& b,
                             ThreadPool& pool, const OperatorObserver& observe) const;
  void attention_block(const LayerWeights& layer, const BatchView& batch, const KvLayerView& cache,
                       StepBuffers& b, ThreadPool& pool, const OperatorObserver& observe) const;
  void dense_mlp(const LayerWeights& layer, const float* x, int64_t n_rows, StepBuffers& b,
                 ThreadPool& pool, const OperatorObserver& observe) const;
  void mlp_block(const LayerWeights& layer, int64_t n_rows, StepBuffers& b, ThreadPool& pool,
                 const OperatorObserver& observe) const;
  void score_rows(std::span<const int64_t> logits_rows, StepBuffers& b, ThreadPool& pool,
                  const OperatorObserver& observe) const;

  ModelConfig config_;
  const KernelSet& kernels_;
  const TensorView* embedding_;  // (vocab_size, hidden_size), in the mapped file
  std::vector<LayerWeights> layers_;
  std::vector<float> final_norm_;       // (hidden_size)
  std::unique_ptr<PackedMatrix> head_;  // (vocab_size, hidden_size)
  // Of config().ropes, as far as a step has needed them: a context of millions of positions would
  // take minutes and gigabytes. Whoever holds the list keeps it while another step makes a longer
  // one.
  mutable std::mutex ropes_mutex_;
  mutable std::shared_ptr<const std::vector<RopeTable>> ropes_;
  AttentionShape attention_shape_;  // without a window
  float rms_norm_eps_ = 0;
  size_t packed_bytes_ = 0;
};

}  // namespace isobit

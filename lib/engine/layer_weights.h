// The weights of one layer, packed for a kernel set, and the loader that takes them out of a
// checkpoint.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "kernels/ops.h"

namespace isobit {

struct ExpertWeights {
  std::unique_ptr<PackedMatrix> gate_up;  // (2 * width, hidden_size)
  std::unique_ptr<PackedMatrix> down;     // (hidden_size, width)
};

// A norm that the model does not have is empty, a matrix null.
struct LayerWeights {
  int64_t index = 0;
  LayerConfig config;
  std::vector<float> attention_norm;      // (hidden_size)
  std::vector<float> query_norm;          // (head_dim), or (n_heads * head_dim)
  std::vector<float> key_norm;            // (head_dim), or (n_kv_heads * head_dim)
  std::vector<float> attention_out_norm;  // (hidden_size)
  std::vector<float> mlp_norm;            // (hidden_size)
  std::vector<float> mlp_out_norm;        // (hidden_size)
  std::unique_ptr<PackedMatrix> qkv, attention_out, gate_up, down;
  std::unique_ptr<PackedMatrix> router;  // (n_experts, hidden_size)
  std::vector<ExpertWeights> experts;
};

// Checks the shape of every tensor it is asked for and gives the file's pages back as it goes.
// Throws Error(environment) when the checkpoint lacks a tensor, or holds one of a wrong shape or an
// unusable dtype.
class WeightLoader {
 public:
  WeightLoader(const Checkpoint& checkpoint, const KernelSet& kernels, ThreadPool& pool)
      : checkpoint_(checkpoint), kernels_(kernels), pool_(pool) {}

  LayerWeights layer(int64_t index);
  // The tensor, which stays in the mapped file.
  const TensorView& checked(const std::string& name, const std::vector<int64_t>& shape) const;
  // A norm's weights as rms_norm multiplies by them, (n).
  std::vector<float> norm(const std::string& name, int64_t n) const;
  // Stored matrices, stacked. `names` share n_in; `biases` are theirs, or none.
  struct Part {
    std::string name;
    int64_t n_out = 0;
    std::string bias;  // empty: none
  };
  std::unique_ptr<PackedMatrix> pack(const std::vector<Part>& parts, int64_t n_in,
                                     int64_t n_segments);

  size_t packed_bytes() const { return packed_bytes_; }

 private:
  std::vector<float> vector_tensor(const std::string& name, int64_t n) const;
  void load_attention(LayerWeights& layer, const std::string& prefix);
  void load_mlp(LayerWeights& layer, const std::string& prefix);
  void load_experts(LayerWeights& layer);

  const Checkpoint& checkpoint_;
  const KernelSet& kernels_;
  ThreadPool& pool_;
  size_t packed_bytes_ = 0;
};

}  // namespace isobit

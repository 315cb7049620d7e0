// A checkpoint as the rest of isobit sees it: a model description and named tensor views, whatever
// the file format.
//
// This header needs only the standard library, so that the engine core can be built from it alone
// (numeric contract section 7). Names are Hugging Face's
// ("model.layers.0.self_attn.q_proj.weight"), also for a GGUF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor_view.h"

namespace isobit {

// Llama family. Binary64 fields keep the decimals of the configuration (numeric contract section
// 1).
struct ModelConfig {
  std::string architecture;  // "llama", "mistral", "qwen2"
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t n_layers = 0;
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocab_size = 0;     // rows of the embedding and the head, padding included
  int64_t max_positions = 0;  // tokens of context
  double rms_norm_eps = 1e-5;
  double rope_theta = 10000;
  std::vector<float> rope_factors;  // GGUF rope_freqs (head_dim/2), empty if absent
  bool tied_head = false;
  bool qkv_bias = false;
  std::vector<int32_t> bos_token_ids;
  std::vector<int32_t> eos_token_ids;

  // R of numeric contract section 2: segments of every row-parallel matmul.
  int64_t n_segments() const;
};

// One file whose tensors the checkpoint maps.
struct CheckpointFile {
  std::string name;  // without its folder
  std::span<const std::byte> bytes;
};

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;

  const ModelConfig& config() const { return config_; }
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  // Throws Error(environment) naming the checkpoint and the tensor.
  const TensorView& tensor(const std::string& name) const;
  const TensorView* find(const std::string& name) const;
  const std::string& path() const { return path_; }
  const std::string& format() const { return format_; }                // "safetensors", "gguf"
  const std::vector<CheckpointFile>& files() const { return files_; }  // by name

  // Configuration as stored, for digests: canonical JSON of config.json and generation_config.json
  // (empty when absent); of a GGUF, its metadata outside the tokenizer section, each key with its
  // type and its bytes, and nothing for the second.
  const std::string& stored_config() const { return stored_config_; }
  const std::string& stored_generation_config() const { return stored_generation_config_; }
  // What looked odd but does not change a result: stray shards, a wrong total_size.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Gives back the file's pages under this tensor; they are read again if touched.
  virtual void release(const TensorView& tensor) const = 0;
  // The same for a range of one of files().
  virtual void release(std::span<const std::byte> file_bytes) const = 0;

 protected:
  ModelConfig config_;
  std::map<std::string, TensorView> tensors_;
  std::string path_;
  std::string format_;
  std::vector<CheckpointFile> files_;
  std::string stored_config_, stored_generation_config_;
  std::vector<std::string> warnings_;
};

}  // namespace isobit

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

#include "numeric/rope.h"
#include "tensor/tensor_view.h"

namespace isobit {

// Root mean square norms of queries and keys, before their positions are turned.
enum class QueryKeyNorm : uint8_t {
  kNone,
  kPerHead,   // over head_dim, one weight for all heads: Qwen3, Gemma 3
  kAllHeads,  // over all heads of a row together: OLMo 2
};

enum class Activation : uint8_t { kSilu, kGeluTanh, kGeluErf };

// What tells one layer from another.
struct LayerConfig {
  int64_t window = 0;              // a query sees so many positions, its own included; 0: all
  std::optional<size_t> rope = 0;  // of ModelConfig::ropes; none: a layer without positions
  bool has_experts = false;

  bool operator==(const LayerConfig&) const = default;
};

// A mixture of experts: top_k of n experts for each row. n = 0: the model has none.
struct ExpertsConfig {
  int64_t n = 0;
  int64_t top_k = 0;
  int64_t width = 0;         // intermediate size of one expert
  bool renormalise = false;  // the weights of the selected sum to 1

  bool operator==(const ExpertsConfig&) const = default;
};

// A decoder of the Llama family and its relatives. Binary64 fields keep the decimals of the
// configuration (numeric contract section 1). The defaults are Llama's.
struct ModelConfig {
  std::string architecture;  // Hugging Face's model_type: "llama", "qwen3_moe", "gemma3_text"
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t n_layers = 0;
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocab_size = 0;     // rows of the embedding and the head, padding included
  int64_t max_positions = 0;  // tokens of context
  double rms_norm_eps = 1e-5;
  std::vector<RopeConfig> ropes = {RopeConfig{}};
  int64_t rotary_dim = 0;           // elements of a head that are turned; 0: all
  std::vector<LayerConfig> layers;  // (n_layers); empty: every layer is LayerConfig{}
  bool tied_head = false;
  bool qkv_bias = false;
  bool attention_out_bias = false;
  bool mlp_bias = false;
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  bool norms_before = true;    // of attention and MLP: on their input
  bool norms_after = false;    // on their output, before it joins the residual stream
  bool norm_adds_one = false;  // stored norm weights are w of 1 + w
  Activation activation = Activation::kSilu;
  bool scaled_embedding = false;  // rows times sqrt(hidden_size)
  // What scores are multiplied by; absent: 1 / sqrt(head_dim).
  std::optional<double> attention_multiplier;
  double attention_soft_cap = 0;  // 0: none
  double final_soft_cap = 0;      // 0: none
  ExpertsConfig experts;
  // Tensors of parts that no text reaches, by how their names begin.
  std::vector<std::string> ignored_prefixes;
  std::vector<int32_t> bos_token_ids;
  std::vector<int32_t> eos_token_ids;

  // R of numeric contract section 2: segments of every row-parallel matmul.
  int64_t n_segments() const;
  LayerConfig layer(int64_t index) const {
    return layers.empty() ? LayerConfig{} : layers[static_cast<size_t>(index)];
  }
  int64_t rotary_elems() const { return rotary_dim > 0 ? rotary_dim : head_dim; }
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

// The classes of transformers that the engine computes, and what each means where config.json is
// silent: the defaults of its configuration class, and arithmetic that no field states.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/config_fields.h"

namespace isobit {

// Which layers a sliding window holds in, when there is no layer_types.
enum class WindowRule : uint8_t {
  kNone,
  kAll,          // Mistral, Mixtral, Phi-3, Qwen3-MoE
  kFromLayer,    // from max_window_layers on: Qwen2, Qwen3
  kAllButEvery,  // in all but every n-th: Gemma
  kWithoutRope,  // in the layers without positions: SmolLM3
};

struct HfFamily {
  const char* model_type;
  const char* class_name;
  double rope_theta;  // default
  int64_t head_dim;   // default; 0: hidden_size / num_attention_heads
  bool ties_head;     // default of tie_word_embeddings
  WindowRule window_rule;
  int64_t window;           // default of sliding_window where the field is absent; 0: none
  bool asks_for_window;     // only use_sliding_window = true puts it in force
  int64_t window_interval;  // of kAllButEvery
};

// The family that `architectures` and `model_type` name together. Throws Error(environment) when
// they disagree, are missing, or name what this version does not compute.
const HfFamily& read_family(const ConfigFields& fields);

// Sets what the family's code does and no field says: biases, norms, activation, scaling.
void apply_family(const HfFamily& family, ModelConfig& config);

}  // namespace isobit

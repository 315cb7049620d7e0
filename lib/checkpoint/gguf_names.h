// Tensor names of a GGUF as Hugging Face's.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/tensor_names.h"

namespace isobit {

// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; nothing for a name outside the
// architectures of ModelConfig.
std::optional<std::string> hf_name_of(const std::string& gguf_name, const ModelConfig& config);

// Which matrix of every expert of a layer a tensor holds: "blk.3.ffn_up_exps.weight".
struct ExpertTensor {
  int64_t layer = 0;
  std::string ExpertNames::*matrix = nullptr;

  const std::string& name_of(const ExpertNames& names) const { return names.*matrix; }
};
std::optional<ExpertTensor> expert_tensor_of(const std::string& gguf_name);

}  // namespace isobit

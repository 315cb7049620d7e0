// A GGUF file as a checkpoint: its metadata as ModelConfig, its tensors under Hugging Face's names.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/gguf.h"

namespace isobit {

// Throws Error(environment).
std::unique_ptr<Checkpoint> open_gguf_checkpoint(const std::filesystem::path& path);

// Metadata -> ModelConfig. Refuses, by the name of the key, architectures and arithmetic that this
// version does not have.
ModelConfig read_gguf_config(const GgufFile& file);

// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; nothing for a name outside the
// Llama family.
std::optional<std::string> hf_name_of(const std::string& gguf_name);

}  // namespace isobit

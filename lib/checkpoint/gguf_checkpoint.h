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

}  // namespace isobit

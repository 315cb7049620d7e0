// A Hugging Face folder: config.json beside model.safetensors, or beside shards named by
// model.safetensors.index.json.
#pragma once

#include <filesystem>
#include <memory>

#include "checkpoint/checkpoint.h"

namespace isobit {

// Throws Error(environment). The index is not trusted: it may name only plain files of this folder,
// each must exist, and it must agree with the shards about every tensor.
std::unique_ptr<Checkpoint> open_safetensors_checkpoint(const std::filesystem::path& folder);

}  // namespace isobit

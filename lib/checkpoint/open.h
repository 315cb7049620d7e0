// Opens a checkpoint of any supported format, checked against its own description.
#pragma once

#include <filesystem>
#include <memory>

#include "checkpoint/checkpoint.h"

namespace isobit {

// `path` is a folder with config.json and model.safetensors (or its shards and their index), or a
// GGUF file. When this returns, every length in every file has been checked and every tensor that
// the configuration asks for is there with the expected shape; nothing has been copied. Throws
// Error(environment) for a checkpoint that is unreadable, malformed, or of a kind that this version
// cannot compute.
std::unique_ptr<Checkpoint> open_checkpoint(const std::filesystem::path& path);

// Throws Error(environment) naming the first tensor whose type the engine cannot compute with (a
// fingerprint can do with any).
void require_computable(const Checkpoint& checkpoint);

}  // namespace isobit

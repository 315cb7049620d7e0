// What differs from layer to layer in a GGUF: windows, positions, experts. Much of it stands in
// llama.cpp's code rather than in the file (b11434, src/models).
#pragma once

#include "checkpoint/checkpoint.h"
#include "checkpoint/gguf_keys.h"

namespace isobit {

// Fills config.experts; a llama model with experts is a Mixtral. REQUIRES: sizes are read.
void read_gguf_experts(const ModelKeys& keys, ModelConfig& config);

// Fills config.layers, and adds the rope of Gemma 3's layers with a window. A window that reaches
// past the context is none. REQUIRES: sizes, ropes and experts are read.
void read_gguf_layers(const GgufFile& file, const ModelKeys& keys, ModelConfig& config);

}  // namespace isobit

// Rotary positions in the metadata of a GGUF. Divisors of the frequencies are tensors, and not read
// here.
#pragma once

#include "checkpoint/checkpoint.h"
#include "checkpoint/gguf_keys.h"

namespace isobit {

// Fills config.ropes[0] and config.rotary_dim. REQUIRES: sizes and head_dim are read. Throws
// Error(environment) for scalings and factors that this version does not have.
void read_gguf_rope(const ModelKeys& keys, ModelConfig& config);

}  // namespace isobit

// What differs from layer to layer in config.json: windows, positions, experts.
#pragma once

#include "checkpoint/hf_family.h"

namespace isobit {

// Fills config.layers and config.experts. A window that reaches past the context is none. REQUIRES:
// sizes and ropes are read. Throws Error(environment) where fields contradict each other.
void read_layers(const ConfigFields& fields, const HfFamily& family, ModelConfig& config);

}  // namespace isobit

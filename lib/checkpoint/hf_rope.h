// Rotary positions in config.json, in the names of before and after transformers 5.
#pragma once

#include "checkpoint/hf_family.h"

namespace isobit {

// The ropes of a model: that of layers with full attention first, then, where it differs, that of
// layers with a sliding window.
//
// Read are rope_theta, rope_scaling and rope_local_base_freq of old, and rope_parameters of new,
// flat or by layer type. A file that has both and contradicts itself is refused. Of longrope's two
// lists the one for the configured maximum context is taken (numeric contract, row rope). REQUIRES:
// sizes and head_dim are read.
void read_ropes(const ConfigFields& fields, const HfFamily& family, ModelConfig& config);

}  // namespace isobit

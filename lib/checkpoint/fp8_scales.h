// FP8 weights of Hugging Face checkpoints: which stored matrix scales which.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "tensor/tensor_view.h"

namespace isobit {

// Points every F8_E4M3 weight at its scales: "NAME_scale_inv" or "NAME_scale", one number for the
// whole tensor or one for each block of quantization_config.weight_block_size. Throws
// Error(environment) for a weight without scales, scales of another shape or type, and a block size
// that is none. `config` is config.json.
void attach_fp8_scales(const Json& config, std::map<std::string, TensorView>& tensors,
                       const std::string& where);

}  // namespace isobit

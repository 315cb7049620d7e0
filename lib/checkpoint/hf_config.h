// config.json and generation_config.json of a Hugging Face folder -> ModelConfig.
//
// Names changed with transformers 5 (rope_parameters for rope_theta and rope_scaling, dtype for
// torch_dtype): both are read, and a file that has both and contradicts itself is refused, since
// two libraries would compute two different models from it.
#pragma once

#include <string>

#include "base/json.h"
#include "checkpoint/checkpoint.h"

namespace isobit {

// Throws Error(environment) naming the field: one that is missing or of the wrong type, or one that
// asks for arithmetic which this version does not have.
ModelConfig read_hf_config(const Json& config, const std::string& where);

// Adds the generation configuration's end-of-sequence ids.
void merge_generation_config(const Json& generation_config, ModelConfig& config,
                             const std::string& where);

}  // namespace isobit

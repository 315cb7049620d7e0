// Which tensors a model has, and what shape each must be: the point where a
// checkpoint's configuration and its tensors are held against each other, before either is
// believed.
#pragma once

#include <map>
#include <string>

#include "checkpoint/checkpoint.h"

namespace isobit {

// Sizes positive and below 2^31, heads divisible by KV heads, head_dim even. Throws
// Error(environment).
void check_sizes(const ModelConfig& config, const std::string& where);

// Every expected tensor is present with its shape; vectors (norms, biases) are F32, F16 or BF16;
// nothing else is present. A tied head that is stored as well must repeat the embedding's bytes.
// Throws Error(environment) naming tensor, expected and found.
void check_tensors(const ModelConfig& config, const std::map<std::string, TensorView>& tensors,
                   const std::string& where);

}  // namespace isobit

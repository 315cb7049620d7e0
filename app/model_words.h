// What a model does beside the plain Llama, in words and as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "checkpoint/checkpoint.h"

namespace isobit::app {

// {"positions", "theta 1000000, llama3 by 8"}, {"window", "512 tokens, in 15 of 18 layers"}, ...
std::vector<std::pair<std::string, std::string>> model_words(const ModelConfig& config);

// Members for the JSON of a model: ropes, windows, norms, activation, soft caps, experts.
Json model_features_json(const ModelConfig& config);

}  // namespace isobit::app

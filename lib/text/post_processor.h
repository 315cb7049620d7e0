// What a tokenizer.json puts around a text by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace isobit {

struct PostProcessor {
  std::vector<int32_t> prefix_ids;
  std::vector<int32_t> suffix_ids;
};

// Reads the "post_processor" member. Throws Error(environment) naming `where` and the member.
PostProcessor read_post_processor(const Json& value, const std::string& where);

}  // namespace isobit

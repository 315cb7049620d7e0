// JSON inside a checkpoint: the strict reader of base/json.h, with the errors and the size limit
// that a downloaded file needs.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace isobit {

// One JSON object. Throws Error(environment) beginning with `where` when the text is not JSON, has
// a duplicate key, is not an object, or has more keys or values than any model needs (a value can
// take 50 times the memory of its text).
Json parse_checkpoint_json(std::string_view text, const std::string& where);

}  // namespace isobit

// The steps of a tokenizer in words, from the JSON that describes them.
#pragma once

#include <string>

#include "base/json.h"

namespace isobit::app {

// "cut by the regular expression '\p{N}{1,3}', each match a piece"; a step that has no sentence is
// shown as JSON.
std::string step_in_words(const Json& step);

}  // namespace isobit::app

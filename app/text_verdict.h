// "Same text?", in words and as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "fingerprint/same_text.h"

namespace isobit::app {

// Lines that end with a newline; printable.
std::string text_words(const TextComparison& comparison);
Json text_json(const TextComparison& comparison);

}  // namespace isobit::app

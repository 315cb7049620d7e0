// JSON whose texts came from outside and may hold bytes that are not UTF-8, which no JSON can.
#pragma once

#include "base/json.h"

namespace isobit {

// The same value with every text and key as json_text (report/untrusted_text.h) has it.
Json valid_json(const Json& value);

}  // namespace isobit

// Floats and bytes as JSON that gives the same bits back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace isobit {

// A number, or the bits of one as eight hexadecimal digits.
Json float_json(float value);
// Nothing for any other JSON, and for a number that no float is.
std::optional<float> float_from_json(const Json& value);

// A string, or {"bytes": "..."} for what is not UTF-8.
Json bytes_json(const std::string& bytes);
std::optional<std::string> bytes_from_json(const Json& value);

// Lower-case hexadecimal digits, two a byte; nothing for anything else.
std::optional<std::string> bytes_from_hex(const std::string& digits);

}  // namespace isobit

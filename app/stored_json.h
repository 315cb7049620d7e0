// JSON files of a checkpoint, whose faults are not the user's usage.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"

namespace isobit::app {

// Throws Error(environment).
Json parse_stored_json(const std::string& text, const std::string& where);

// The object in a file; nothing when there is no such file. Throws Error(environment).
std::optional<Json> read_stored_object(const std::filesystem::path& path);

}  // namespace isobit::app

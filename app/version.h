// What this binary is: version, contract, build. Also the source of the fingerprint's software
// items.
#pragma once

#include <string>

#include "base/json.h"

namespace isobit::app {

std::string version_number();

std::string release_date();         // "2026-12-01"
std::string version_text();         // lines without the last newline
Json version_json();                // schemas/version.schema.json
std::string compiler_text();        // "g++ 12.2.0"
std::string compiler_flags_text();  // the flags of the build

}  // namespace isobit::app

// What this binary is: version, contract, build. Also the source of the fingerprint's software
// items.
#pragma once

#include <string>

namespace isobit::app {

std::string version_number();

std::string release_date();         // "2026-12-01"
std::string version_text();         // lines without the last newline
std::string compiler_text();        // "g++ 12.2.0"
std::string compiler_flags_text();  // the flags of the build

}  // namespace isobit::app

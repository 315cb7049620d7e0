// JSON that may be shown in the log of a build: Azure's agent and GitHub's runner carry out "##["
// and "##vso[" wherever a log shows them.
#pragma once

#include <string>
#include <string_view>

namespace isobit {

// The same document with "##" written as "\u0023\u0023", which only strings can hold: every reader
// gets the same values. Not for what is digested by its bytes.
std::string log_safe_json(std::string_view json);

}  // namespace isobit

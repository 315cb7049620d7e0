// For CLI::Option::check.
#pragma once

#include <string>

namespace isobit::app {

// CLI11's own check names its bounds with 300 digits.
inline std::string not_negative(const std::string& value) {
  return value.starts_with('-') ? "'" + value.substr(0, 40) + "' is below 0" : "";
}

}  // namespace isobit::app

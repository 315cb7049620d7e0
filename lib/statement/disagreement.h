// Something that a statement says otherwise than what is inside it, or than what it is about.
#pragma once

#include <optional>
#include <string>

namespace isobit {

struct Disagreement {
  std::string what;                  // "result, by the verdict inside"
  std::string expected;              // as what it follows from has it
  std::optional<std::string> found;  // nothing: it is not there
};

}  // namespace isobit

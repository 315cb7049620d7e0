// How a test says that something must be refused, and with which words.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace isobit::test {

// The message of the environment error that `body` must throw; text that no message equals when it
// does not.
inline std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.code() == ErrorCode::environment ? e.message()
                                              : "[not an environment error] " + e.message();
  }
  return "[nothing was thrown]";
}

}  // namespace isobit::test

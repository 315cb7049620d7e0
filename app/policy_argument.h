// The policy that a user names, and the day on which it is applied.
#pragma once

#include <string>

#include "gate/policy.h"

namespace isobit::app {

// A ready policy's name, or a file. Throws Error(usage) with file, line and column,
// Error(environment) for a file that cannot be read.
Policy policy_argument(const std::string& name_or_file);

// The policy's text, to keep with a baseline; checked.
std::string policy_text(const std::string& name_or_file);

// The policy that such a text states; empty: level 1.
Policy kept_policy(const std::string& text, const std::string& where);

// --now as a day; empty: today. Throws Error(usage).
Date gate_day(const std::string& now);

// Throws Error(usage) where both are given, or a level that does not exist.
Policy policy_or_level(const std::string& name_or_file, int level, bool level_given);

}  // namespace isobit::app

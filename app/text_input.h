// Input that a user names as a file, as "-", or pipes in.
#pragma once

#include <string>

namespace isobit::app {

// The file's bytes; of "-", standard input. Throws Error(environment) for what cannot be read.
std::string read_input(const std::string& path);

// Standard input where it is not a terminal. Throws Error(usage) with `what_to_do` where it is, and
// where it is empty.
std::string read_piped_input(const std::string& what_to_do);

}  // namespace isobit::app

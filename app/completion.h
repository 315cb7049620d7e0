// Scripts that complete isobit's commands, options and values in a shell; they need nothing but the
// shell itself, and know what the program knew when it wrote them.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace isobit::app {

std::string bash_completion(const CommandWords& root);
std::string zsh_completion(const CommandWords& root);
std::string fish_completion(const CommandWords& root);

}  // namespace isobit::app

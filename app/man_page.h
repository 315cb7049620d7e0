// The manual page, isobit(1), as roff with the man macros.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace isobit::app {

std::string man_page(const CommandWords& root);

}  // namespace isobit::app

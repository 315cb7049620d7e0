// How many threads are worth having.
#pragma once

#include "app/console.h"

namespace isobit::app {

int n_cores();  // that this process may run on

// Where there are more threads than cores.
void warn_of_threads(int n_threads, Console& console);

}  // namespace isobit::app

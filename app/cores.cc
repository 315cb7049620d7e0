#include "app/cores.h"

#include <sched.h>

#include <algorithm>

#include <fmt/format.h>

namespace isobit::app {

void warn_of_threads(int n_threads, Console& console) {
  if (n_threads > n_cores())
    console.warn(fmt::format("{} threads on {} cores: they take turns, which is slower", n_threads,
                             n_cores()));
}

int n_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace isobit::app

// What this machine reaches at best, by loops that do nothing else, on the threads that the
// figures beside it use.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/cpu_sets.h"

namespace isobit::app {

template <class Work>
double seconds(Work work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Both loops in pieces that threads fetch, as kernels' work items are. A call takes some tens of
// milliseconds.
class Roofs {
 public:
  Roofs(const CpuRoofs& loops, ThreadPool& pool) : loops_(loops), pool_(pool) {}

  double gflops() const;                                            // f32, by fma
  double gbytes_per_s(const std::vector<std::byte>& buffer) const;  // reading it once

 private:
  const CpuRoofs& loops_;
  ThreadPool& pool_;
};

}  // namespace isobit::app

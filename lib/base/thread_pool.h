// A fixed set of workers that run one function over item indices and meet at a barrier.
//
// The engine calls it hundreds of times per step, so workers spin for a short while before they
// sleep. Each starts with a stretch of the items and then takes from the others': which thread
// computes an item is left open, so an item's result must not depend on it (numeric contract
// section 2: work is divided only where no sum crosses the division). A worker that has lost its
// core to something else is not waited for unless it holds an item. Every worker checks, before
// its first item and after each call, that its floating-point control word keeps subnormals and
// rounds to nearest.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace isobit {

class ThreadPool {
 public:
  // n_threads >= 1 counts the calling thread. More threads than cores is allowed; it is only slow.
  // Throws Error(environment) when the system does not give so many.
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const;

  // Calls body(item, thread) for item in [0, n_items), thread in [0, n_threads). Returns when all
  // are done. The first exception thrown by body is rethrown here after all threads have stopped.
  // Not reentrant.
  void run(size_t n_items, const std::function<void(size_t item, int thread)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True when the calling thread rounds to nearest even and neither flushes results nor operands that
// are subnormal.
bool float_environment_is_ieee();
// Makes it so.
void set_ieee_float_environment();

}  // namespace isobit

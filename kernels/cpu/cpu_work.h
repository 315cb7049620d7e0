// Work items and scratch memory for the vector kernels, without std::function or std::vector in
// their files (cpu_ops.h says why).
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace isobit {

// Calls item_fn(job, item) for item in [0, n_items) on the pool's threads. An item's result must
// not depend on its thread.
void run_items(ThreadPool& pool, int64_t n_items, const void* job,
               void (*item_fn)(const void* job, int64_t item));

// At least n_floats floats of the calling thread, 64-byte aligned, contents unspecified. Valid
// until the thread's next call, so one kernel asks once per item and divides what it gets.
float* thread_scratch(int64_t n_floats);

// Of one core, as the system says, and 512 KiB where it does not.
int64_t second_level_cache_bytes();

}  // namespace isobit

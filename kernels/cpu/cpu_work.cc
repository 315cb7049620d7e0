#include "kernels/cpu/cpu_work.h"

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include <cstdlib>
#include <memory>
#include <new>

namespace isobit {
namespace {

constexpr size_t kAlignment = 64;

struct FreeAligned {
  void operator()(float* p) const { std::free(p); }
};

struct Scratch {
  std::unique_ptr<float, FreeAligned> floats;
  int64_t n_floats = 0;
};

}  // namespace

void run_items(ThreadPool& pool, int64_t n_items, const void* job,
               void (*item_fn)(const void* job, int64_t item)) {
  if (n_items <= 0) return;
  pool.run(static_cast<size_t>(n_items),
           [job, item_fn](size_t item, int) { item_fn(job, static_cast<int64_t>(item)); });
}

int64_t second_level_cache_bytes() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  static const int64_t told = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  constexpr int64_t told = 0;
#endif
  return told > 0 ? told : int64_t{512} << 10;
}

float* thread_scratch(int64_t n_floats) {
  static thread_local Scratch scratch;
  if (scratch.n_floats < n_floats) {
    scratch.floats.reset();
    scratch.n_floats = 0;
    const size_t bytes = static_cast<size_t>(n_floats) * sizeof(float);
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    auto* p = static_cast<float*>(std::aligned_alloc(kAlignment, rounded));
    if (p == nullptr) throw std::bad_alloc();
    scratch.floats.reset(p);
    scratch.n_floats = n_floats;
  }
  return scratch.floats.get();
}

}  // namespace isobit

#include "base/thread_pool.h"

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/error.h"

namespace isobit {
namespace {

constexpr int kSpins =
    20000;  // about 50 microseconds: longer than the gap between two operators of one step

// The bits of the control word that change a result, all 0 in IEEE arithmetic.
#if defined(__SSE2__)
constexpr unsigned kNotIeee = 0x8000 /* FTZ */ | 0x6000 /* rounding */ | 0x0040 /* DAZ */;
#elif defined(__aarch64__)
constexpr uint64_t kNotIeee = uint64_t{1} << 26 |  // AHP: f16 without infinities
                              uint64_t{1} << 25 |  // DN: default NaN
                              uint64_t{1} << 24 |  // FZ
                              uint64_t{3} << 22 |  // rounding
                              uint64_t{1} << 19 |  // FZ16
                              7;                   // NEP, AH, FIZ
#endif

void pause_briefly() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool float_environment_is_ieee() {
#if defined(__SSE2__)
  return (_mm_getcsr() & kNotIeee) == 0;
#elif defined(__aarch64__)
  uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return (fpcr & kNotIeee) == 0;
#else
  return std::fegetround() == FE_TONEAREST;
#endif
}

void set_ieee_float_environment() {
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() & ~kNotIeee);
#elif defined(__aarch64__)
  uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  asm volatile("msr fpcr, %0" ::"r"(fpcr & ~kNotIeee));
#else
  std::fesetround(FE_TONEAREST);
#endif
}

struct ThreadPool::State {
  // A thread's own stretch of the items, from which the others help themselves once they are done
  // with theirs. Neighbouring items share data, and the same thread meets the same ones again in
  // the next call.
  struct alignas(64) Range {
    std::atomic<size_t> next{0};
    size_t end = 0;
  };

  explicit State(int n_threads) : ranges(static_cast<size_t>(n_threads)) {}

  std::vector<Range> ranges;  // one per thread
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<uint64_t> generation{0};
  std::atomic<int> sleeping{0};
  std::atomic<bool> stopping{false};

  // One job at a time; written before `generation` moves, read after.
  const std::function<void(size_t, int)>* body = nullptr;
  alignas(64) std::atomic<int> n_running{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;

  void divide(size_t n_items) {
    const size_t n = ranges.size();
    for (size_t t = 0; t < n; ++t) {
      ranges[t].end = n_items * (t + 1) / n;
      ranges[t].next.store(n_items * t / n, std::memory_order_relaxed);
    }
  }

  void empty(Range& range, int thread) {
    for (size_t item; (item = range.next.fetch_add(1, std::memory_order_relaxed)) < range.end;)
      (*body)(item, thread);
  }

  void work(int thread) {
    try {
      if (!float_environment_is_ieee()) set_ieee_float_environment();
      for (size_t i = 0; i < ranges.size(); ++i)
        empty(ranges[(static_cast<size_t>(thread) + i) % ranges.size()], thread);
      ISOBIT_REQUIRE(float_environment_is_ieee());
    } catch (...) {
      for (Range& range : ranges) range.next.store(range.end, std::memory_order_relaxed);
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  }

  void wait_for_work(uint64_t seen) {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (generation.load(std::memory_order_acquire) != seen || stopping.load()) return;
      pause_briefly();
    }
    std::unique_lock lock(mutex);
    ++sleeping;
    wake.wait(lock, [&] {
      return generation.load(std::memory_order_acquire) != seen || stopping.load();
    });
    --sleeping;
  }

  // Spins while the others are about to finish; sleeps when one of them has lost its core.
  void wait_for_workers() {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (n_running.load(std::memory_order_acquire) == 0) return;
      pause_briefly();
    }
    for (int n; (n = n_running.load(std::memory_order_acquire)) != 0;) n_running.wait(n);
  }

  void worker(int thread) {
    for (uint64_t seen = 0;;) {
      wait_for_work(seen);
      if (stopping.load()) return;
      seen = generation.load(std::memory_order_acquire);
      work(thread);
      if (n_running.fetch_sub(1, std::memory_order_acq_rel) == 1) n_running.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int n_threads) {
  ISOBIT_REQUIRE(n_threads >= 1);
  state_ = std::make_unique<State>(n_threads);
  for (int t = 1; t < n_threads; ++t)
    state_->workers.emplace_back([this, t] { state_->worker(t); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping.store(true);
  }
  state_->wake.notify_all();
  for (std::thread& t : state_->workers) t.join();
}

int ThreadPool::n_threads() const {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::run(size_t n_items, const std::function<void(size_t, int)>& body) {
  State& s = *state_;
  s.body = &body;
  s.divide(n_items);
  if (n_items > 1 && !s.workers.empty()) {
    s.n_running.store(static_cast<int>(s.workers.size()), std::memory_order_relaxed);
    s.generation.fetch_add(1, std::memory_order_seq_cst);
    if (s.sleeping.load(std::memory_order_seq_cst) > 0) {
      { const std::lock_guard lock(s.mutex); }
      s.wake.notify_all();
    }
    s.work(0);
    s.wait_for_workers();
  } else {
    s.work(0);
  }
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

}  // namespace isobit

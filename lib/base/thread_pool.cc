#include "base/thread_pool.h"

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
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

  explicit State(int n_threads)
      : ranges(static_cast<size_t>(n_threads)),
        n_spins(n_threads > static_cast<int>(std::thread::hardware_concurrency()) ? 0 : kSpins) {}

  std::vector<Range> ranges;  // one per thread
  const int n_spins;          // none where threads share a core: they would keep the others from it
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<int> sleeping{0};
  std::atomic<bool> stopping{false};

  // One job at a time; written while `job` is closed and nobody is inside, read by those inside.
  const std::function<void(size_t, int)>* body = nullptr;

  // How many workers are inside, whether more may enter, and a count of jobs above. The caller
  // waits only for those inside: one that has lost its core before it got there is not missed.
  static constexpr uint64_t kOpen = 1 << 16, kInside = kOpen - 1, kOneJob = kOpen << 1;
  alignas(64) std::atomic<uint64_t> job{0};
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

  uint64_t number() const { return job.load(std::memory_order_acquire) / kOneJob; }

  void open() {
    job.store((number() + 1) * kOneJob + kOpen, std::memory_order_seq_cst);
    if (sleeping.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard lock(mutex); }
    wake.notify_all();
  }

  // Whether the job was still open; `seen` becomes its number.
  bool enter(uint64_t& seen) {
    uint64_t now = job.load(std::memory_order_acquire);
    bool inside = false;
    while ((now & kOpen) && !inside)
      inside = job.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
    seen = now / kOneJob;
    return inside;
  }

  void leave() {
    if ((job.fetch_sub(1, std::memory_order_acq_rel) & kInside) == 1) job.notify_one();
  }

  // Spins while those inside are about to finish; sleeps when one of them has lost its core.
  void close() {
    job.fetch_and(~kOpen, std::memory_order_acq_rel);
    for (int spin = 0; spin < n_spins; ++spin) {
      if ((job.load(std::memory_order_acquire) & kInside) == 0) return;
      pause_briefly();
    }
    for (uint64_t now; (now = job.load(std::memory_order_acquire)) & kInside;) job.wait(now);
  }

  void wait_for_work(uint64_t seen) {
    for (int spin = 0; spin < n_spins; ++spin) {
      if (number() != seen || stopping.load()) return;
      pause_briefly();
    }
    std::unique_lock lock(mutex);
    ++sleeping;
    wake.wait(lock, [&] { return number() != seen || stopping.load(); });
    --sleeping;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping.store(true);
    }
    wake.notify_all();
    for (std::thread& t : workers) t.join();
    workers.clear();
  }

  void worker(int thread) {
    for (uint64_t seen = 0;;) {
      wait_for_work(seen);
      if (stopping.load()) return;
      if (!enter(seen)) continue;
      work(thread);
      leave();
    }
  }
};

ThreadPool::ThreadPool(int n_threads) {
  ISOBIT_REQUIRE(n_threads >= 1 && n_threads <= static_cast<int>(State::kInside));
  state_ = std::make_unique<State>(n_threads);
  try {
    for (int t = 1; t < n_threads; ++t)
      state_->workers.emplace_back([s = state_.get(), t] { s->worker(t); });
  } catch (const std::exception& e) {  // the system's limit on threads, or on memory
    state_->stop();
    throw Error(ErrorCode::environment,
                "cannot start " + std::to_string(n_threads) + " threads: " + e.what(),
                "ask for fewer with --threads");
  }
}

ThreadPool::~ThreadPool() {
  state_->stop();
}

int ThreadPool::n_threads() const {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::run(size_t n_items, const std::function<void(size_t, int)>& body) {
  State& s = *state_;
  s.body = &body;
  s.divide(n_items);
  const bool shared = n_items > 1 && !s.workers.empty();
  if (shared) s.open();
  s.work(0);
  if (shared) s.close();
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

}  // namespace isobit

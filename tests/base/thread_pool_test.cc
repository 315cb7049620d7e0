#include "base/thread_pool.h"

#include <doctest/doctest.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstdio>
#include <functional>
#include <latch>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "tests/support/float_control.h"

using isobit::ThreadPool;
using isobit::testing::keeps_subnormals;

namespace {

constexpr int kThreads = 4;

// Runs body once on every thread of the pool: each waits in its item for all the others.
void run_on_every_thread(ThreadPool& pool, const std::function<void(int thread)>& body) {
  std::latch all_here(pool.n_threads());
  pool.run(static_cast<size_t>(pool.n_threads()), [&](size_t, int thread) {
    all_here.arrive_and_wait();
    body(thread);
  });
}

// How many threads lose subnormals, by their control word or by what their arithmetic does.
int flushing_threads(ThreadPool& pool) {
  std::atomic<int> n_flushing{0}, n_ran{0};
  run_on_every_thread(pool, [&](int) {
    ++n_ran;
    n_flushing += !isobit::float_environment_is_ieee() || !keeps_subnormals();
  });
  REQUIRE(n_ran.load() == pool.n_threads());
  return n_flushing.load();
}

}  // namespace

TEST_CASE("a thread that is held up loses its items to the others") {
  ThreadPool pool(kThreads);
  constexpr size_t kItems = 40;
  std::latch others(kItems - 1);
  pool.run(kItems, [&](size_t item, int) {
    if (item == 0)
      others.wait();  // for ever, if the rest of this thread's stretch waited for it
    else
      others.count_down();
  });
  CHECK(others.try_wait());
}

TEST_CASE("every item runs exactly once, for any number of threads") {
  for (int n_threads : {1, 2, 3, 8}) {
    ThreadPool pool(n_threads);
    for (size_t n_items : {size_t{0}, size_t{1}, size_t{2}, size_t{1000}}) {
      std::vector<std::atomic<int>> counts(n_items);
      pool.run(n_items, [&](size_t item, int thread) {
        REQUIRE(thread >= 0);
        REQUIRE(thread < n_threads);
        ++counts[item];
      });
      for (const auto& c : counts) CHECK(c.load() == 1);
    }
  }
}

TEST_CASE("an exception in an item reaches the caller and the pool stays usable") {
  ThreadPool pool(2);
  CHECK_THROWS_AS(pool.run(100,
                           [](size_t i, int) {
                             if (i == 50) throw std::runtime_error("x");
                           }),
                  std::runtime_error);
  std::atomic<int> n{0};
  pool.run(10, [&](size_t, int) { ++n; });
  CHECK(n.load() == 10);
}

// A sanitizer's own memory is above any limit worth setting.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr int kRefused = 0, kNotAnError = 1, kNotRefused = 2, kNoLimit = 3;

// How the making of more threads than a small address space holds ends. In a process of its own,
// because the limit stays.
int end_of_a_pool_without_memory() {
  constexpr size_t kSpace = size_t{256} << 20;
  const rlimit small{kSpace, kSpace};
  ::setrlimit(RLIMIT_AS, &small);
  if (::mmap(nullptr, 2 * kSpace, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    return kNoLimit;  // qemu-user keeps none
  try {
    const ThreadPool pool(500);
    return kNotRefused;
  } catch (const isobit::Error& e) {
    return e.code() == isobit::ErrorCode::environment ? kRefused : kNotAnError;
  }
}

TEST_CASE("threads that the system refuses are an error, and those that had started end") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(end_of_a_pool_without_memory());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoLimit) {
    std::puts("SKIPPED a refusal of threads: nothing limits the address space here");
    return;
  }
  CHECK(WEXITSTATUS(status) == kRefused);
}
#endif

TEST_CASE("no worker flushes subnormals") {
  ThreadPool pool(kThreads);
  CHECK(flushing_threads(pool) == 0);
}

#if defined(ISOBIT_CAN_FLUSH_SUBNORMALS)

using isobit::testing::FloatControlGuard;
using isobit::testing::FloatFault;
using isobit::testing::kFloatFaults;
using isobit::testing::plant;

TEST_CASE("a flushing control word is seen, by its bits and by arithmetic, and can be mended") {
  const FloatControlGuard guard;
  for (const FloatFault& fault : kFloatFaults) {
    CAPTURE(fault.name);
    CHECK(isobit::float_environment_is_ieee());
    CHECK(keeps_subnormals());
    plant(fault);
    CHECK_FALSE(isobit::float_environment_is_ieee());
    CHECK_FALSE(keeps_subnormals());
    isobit::set_ieee_float_environment();
  }
  CHECK(isobit::float_environment_is_ieee());
  CHECK(keeps_subnormals());
}

TEST_CASE("a caller that flushed before it made the pool flushes in no thread, nor itself after") {
  const FloatControlGuard guard;
  for (const FloatFault& fault : kFloatFaults) {
    CAPTURE(fault.name);
    plant(fault);
    ThreadPool pool(kThreads);  // new threads inherit the word
    CHECK(flushing_threads(pool) == 0);
    CHECK(keeps_subnormals());
  }
}

TEST_CASE("a caller that starts to flush between two calls flushes in no thread") {
  const FloatControlGuard guard;
  for (const int n_threads : {1, kThreads}) {
    ThreadPool pool(n_threads);
    CHECK(flushing_threads(pool) == 0);
    for (const FloatFault& fault : kFloatFaults) {
      CAPTURE(fault.name);
      plant(fault);
      CHECK(flushing_threads(pool) == 0);
    }
  }
}

TEST_CASE("an item that leaves its thread flushing is caught, whichever thread it was") {
  const FloatControlGuard guard;
  ThreadPool pool(kThreads);
  for (const FloatFault& fault : kFloatFaults) {
    for (int guilty = 0; guilty < kThreads; ++guilty) {
      CAPTURE(fault.name);
      CAPTURE(guilty);
      const auto body = [&](int thread) {
        if (thread == guilty) plant(fault);
      };
      CHECK_THROWS_AS(run_on_every_thread(pool, body), isobit::Error);
      CHECK(flushing_threads(pool) == 0);
    }
  }
}

#endif

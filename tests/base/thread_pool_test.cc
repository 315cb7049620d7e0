#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

using isobit::ThreadPool;

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

TEST_CASE("no worker flushes subnormals") {
  ThreadPool pool(4);
  std::atomic<int> bad{0};
  pool.run(64, [&](size_t, int) { bad += !isobit::float_environment_is_ieee(); });
  CHECK(bad.load() == 0);
}

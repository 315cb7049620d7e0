#include "app/bench_roofs.h"

#include <algorithm>

namespace isobit::app {
namespace {

constexpr int64_t kReadChunk = int64_t{1} << 20;

}  // namespace

double Roofs::gflops() const {
  constexpr int64_t kRounds = 50000;
  const size_t n_items = static_cast<size_t>(pool_.n_threads()) * 16;
  const double t = seconds([&] {
    pool_.run(n_items,
              [&](size_t item, int) { loops_.fma_loop(kRounds, static_cast<float>(item)); });
  });
  return static_cast<double>(n_items) * kRounds * static_cast<double>(loops_.flops_per_round) / t *
         1e-9;
}

double Roofs::gbytes_per_s(const std::vector<std::byte>& buffer) const {
  const auto n = static_cast<int64_t>(buffer.size());
  const auto n_items = static_cast<size_t>((n + kReadChunk - 1) / kReadChunk);
  const double t = seconds([&] {
    pool_.run(n_items, [&](size_t item, int) {
      const int64_t begin = static_cast<int64_t>(item) * kReadChunk;
      loops_.read_all(buffer.data() + begin, std::min(kReadChunk, n - begin));
    });
  });
  return static_cast<double>(n) / t * 1e-9;
}

}  // namespace isobit::app

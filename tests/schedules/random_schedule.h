// Requests and schedules drawn from a seed. The same seed gives the same draw on every machine
// (std::mt19937_64 and remainders only), so a seed is all that a failure has to print.
//
// A schedule is everything that may not change an answer: who else is there, in what order and
// when, how many rows a step takes, how prompts are cut, how many threads compute it, and with
// which instruction set.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace isobit::testing {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint64_t bits() { return random_(); }
  uint64_t below(uint64_t n) { return random_() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  int64_t between(int64_t low, int64_t high) {  // both included
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::mt19937_64 random_;
};

struct RequestLimits {
  int64_t vocab_size = 0;
  int64_t max_prompt_tokens = 0;
  int64_t max_output_tokens = 0;
};

// n requests: prompts as long as blocks, splits and chunks are, and one token more and less; greedy
// and sampled with every parameter; one choice or several; some end at the checkpoint's end token,
// some do not.
std::vector<Request> random_requests(uint64_t seed, size_t n, const RequestLimits& limits);

struct Schedule {
  uint64_t seed = 0;
  std::vector<size_t> picks;  // which of the requests, in list order; the same one may come twice
  EngineOptions options;      // arrival_steps are parallel to picks
  int n_threads = 1;
  size_t kernels = 0;  // which of the kernel sets
};

// What schedules are drawn from.
struct ScheduleSpace {
  size_t n_requests = 0;
  size_t n_kernel_sets = 1;  // the fastest first
  int64_t max_company = 12;  // requests in one schedule
};

Schedule random_schedule(uint64_t seed, const ScheduleSpace& space);

// One line: every number of it.
std::string describe(const Schedule& schedule);

}  // namespace isobit::testing

// How much a run may take: seconds, requests, tokens. Pure: the clock is an argument, and a
// monotonic one, so that setting the machine's time moves no cap.
//
// A cap stops a run between two answers; what was recorded stays and the run can be resumed, with
// caps that count anew. Only answers that are new in the store count, since a cell that was
// interrupted runs again as a whole: otherwise a cap below one cell's answers would stop every
// session at the same place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "record/run_sink.h"

namespace isobit {

struct RunCaps {
  std::optional<double> seconds = {};
  std::optional<int64_t> requests = {};  // answered; a request for several choices counts once
  std::optional<int64_t> tokens = {};    // generated, in recorded answers
};

class CapWatch {
 public:
  // The time begins now.
  CapWatch(RunCaps caps, std::function<double()> now_ms);

  void landed(const SampleRecord& sample, Landing landing);
  // Which cap is reached, as the flag that set it: "--max-seconds 60"; empty: none.
  std::string reached() const;
  bool anything_new() const { return !requests_.empty(); }

 private:
  RunCaps caps_;
  std::function<double()> now_ms_;
  double begin_ms_;
  std::set<std::tuple<int32_t, int32_t, int32_t>> requests_;  // (cell, prompt, repeat)
  int64_t n_tokens_ = 0;
};

}  // namespace isobit

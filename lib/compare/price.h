// What a cell costs beside what it gives: tokens per second, time to the first token, time to the
// whole answer, and each beside the cell that it is compared with.
//
// Percentiles are nearest-rank: the smallest recorded time that at least p % of the answers do not
// exceed (so none is invented between two answers; p99 of 50 answers is the slowest). A time of 0
// was not recorded. A negative, infinite or NaN time, or a first token after the last one, is a
// clock that jumped: such an answer is counted and left out, never averaged in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/run_record.h"

namespace isobit {

struct Times {
  double mean = 0;  // ms
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
};

struct CellPrice {
  int64_t n_timed = 0;
  int64_t n_clock_jumps = 0;  // answers whose times cannot be
  std::optional<double> tokens_per_s = {};
  std::optional<Times> ttft_ms = {};
  std::optional<Times> latency_ms = {};
};

// A cell's price divided by its reference's.
struct PriceRatio {
  std::optional<double> tokens_per_s = {};  // above 1: faster
  std::optional<double> ttft_p50 = {};      // above 1: slower
  std::optional<double> latency_p50 = {};
  std::optional<double> latency_p95 = {};
};

// Answers that the target failed on are left out.
CellPrice price_of(const CellRecord& cell, const std::vector<const Trace*>& answers);
PriceRatio price_ratio(const CellPrice& reference, const CellPrice& candidate);

}  // namespace isobit

// Compared rows counted by how narrow their choice was: what the flip law is held against by eye.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/divergence.h"
#include "compare/flip_law.h"

namespace isobit {

// Rows with low <= x < high. Four bins to a power of ten; bins without rows are there too, between
// the first and the last that have some.
struct RowBin {
  double low = 0;
  double high = 0;
  int64_t n_rows = 0;
  int64_t n_flips = 0;        // of n_rows: the most likely token differs
  double expected_flips = 0;  // by the law; 0 without one
};

struct RowHistograms {
  std::vector<RowBin> by_margin;  // x: the reference's margin in nats. Ties are not among them
  std::vector<RowBin> by_ratio;   // x: margin over gap drift, of the rows that the law is fitted to
  int64_t n_ties = 0;             // reference margins of exactly 0
};

RowHistograms row_histograms(const std::vector<RowObservation>& rows,
                             const std::optional<FlipLaw>& law);

}  // namespace isobit

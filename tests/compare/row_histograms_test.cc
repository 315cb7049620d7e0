// Rows counted by margin, and by margin over drift, beside what the flip law expects of them.
#include "compare/row_histograms.h"

#include <doctest/doctest.h>

#include <limits>

using namespace isobit;

namespace {

RowObservation row(float margin, float drift, bool flipped = false) {
  return {.prompt_index = 0, .margin = margin, .gap_drift = drift, .flipped = flipped};
}

}  // namespace

TEST_CASE("rows are counted by margin, four bins to a power of ten, gaps included") {
  const RowHistograms h =
      row_histograms({row(0.15f, 0), row(0.16f, 0, true), row(1.5f, 0), row(0, 0.1f)}, {});
  REQUIRE(h.by_margin.size() == 5);  // 0.1, 0.178, 0.316, 0.562, 1
  CHECK(h.by_margin[0].low == doctest::Approx(0.1));
  CHECK(h.by_margin[0].high == doctest::Approx(h.by_margin[1].low));
  CHECK(h.by_margin[0].n_rows == 2);
  CHECK(h.by_margin[0].n_flips == 1);
  CHECK(h.by_margin[2].n_rows == 0);
  CHECK(h.by_margin[4].n_rows == 1);
  CHECK(h.n_ties == 1);
  CHECK(h.by_ratio.empty());  // nothing drifted
}

TEST_CASE("the law's expectation is summed over the rows that drifted, each at its own drift") {
  FlipLaw law;
  law.slope.value = -1;  // P = 1/2 / (1 + m/d)
  const RowHistograms h =
      row_histograms({row(0.012f, 0.01f), row(12, 10, true), row(5, 0), row(1, 1e30f)}, law);
  CHECK(h.by_ratio.front().n_rows == 1);  // 1e-30 counts at the end of what is drawn
  const RowBin& last = h.by_ratio.back();
  CHECK(last.low == doctest::Approx(1));
  CHECK(last.n_rows == 2);
  CHECK(last.n_flips == 1);
  CHECK(last.expected_flips == doctest::Approx(2 * 0.5 / 2.2));
}

TEST_CASE("what is no number is left out") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const RowHistograms h =
      row_histograms({row(kNan, 1), row(-1, 1), row(kInfinity, 1), row(1, kInfinity)}, {});
  CHECK(h.by_margin.size() == 1);
  CHECK(h.by_ratio.empty());
  CHECK(h.n_ties == 0);
}

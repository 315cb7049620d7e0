// The margins of a run's own answers: how narrow its choices are, before anything drifts.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/recorded_samples.h"
#include "record/run_record.h"

namespace isobit {

struct RunComparison;

class MarginDistribution {
 public:
  // Of every position of the reference cells' first repeats that has a margin.
  MarginDistribution(const RunRecord& run, const RecordedSamples& samples);

  // Percentage, 0 to 100, of the margins that are no larger than this one. 0 without margins.
  double percentile(float margin) const;
  bool empty() const { return ascending_.empty(); }

 private:
  std::vector<float> ascending_;
};

// Fills in the percentiles of both sides' margins at each flip. Costs nothing without flips.
void set_margin_percentiles(RunComparison& comparison, const RunRecord& base,
                            const RecordedSamples& base_samples);

}  // namespace isobit

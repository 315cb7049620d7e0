#include "compare/margins.h"

#include <algorithm>

#include "compare/row_evidence.h"
#include "compare/run_comparison.h"

namespace isobit {
namespace {

std::optional<double> percentile_of(const MarginDistribution& margins, std::optional<float> m) {
  return m && !margins.empty() ? std::optional(margins.percentile(*m)) : std::nullopt;
}

}  // namespace

MarginDistribution::MarginDistribution(const RunRecord& run, const RecordedSamples& samples) {
  for (const CellRecord& cell : run.cells) {
    if (!cell.is_reference()) continue;
    for (const auto& [key, trace] : samples.of_cell(cell.index)) {
      if (key.repeat != 0) continue;
      for (const TracePosition& position : trace->positions) {
        if (const auto margin = margin_of(position)) ascending_.push_back(*margin);
      }
    }
  }
  std::sort(ascending_.begin(), ascending_.end());
}

double MarginDistribution::percentile(float margin) const {
  if (ascending_.empty()) return 0;
  const auto above = std::upper_bound(ascending_.begin(), ascending_.end(), margin);
  return 100.0 * static_cast<double>(above - ascending_.begin()) /
         static_cast<double>(ascending_.size());
}

void set_margin_percentiles(RunComparison& comparison, const RunRecord& base,
                            const RecordedSamples& base_samples) {
  if (comparison.totals.token_divergences == 0) return;
  const MarginDistribution margins(base, base_samples);
  for (CellComparison& cell : comparison.cells) {
    for (PairComparison& pair : cell.pairs) {
      if (!pair.divergence.token) continue;
      TokenDivergence& flip = *pair.divergence.token;
      flip.reference_margin_percentile = percentile_of(margins, flip.reference_margin);
      flip.candidate_margin_percentile = percentile_of(margins, flip.candidate_margin);
    }
  }
}

}  // namespace isobit

// Which divergences a reader should see first.
#include <algorithm>
#include <tuple>

#include "report/report.h"

namespace isobit {
namespace {

// Smaller is worse, that is, shown earlier.
int kind_rank(const PairComparison& pair) {
  if (!pair.divergence.token) return 4;
  switch (pair.flip.value_or(FlipKind::kUnknown)) {
    case FlipKind::kSuspicious:
      return 0;
    case FlipKind::kSampling:
      return 1;
    case FlipKind::kUnknown:
      return 2;
    case FlipKind::kDrift:
    case FlipKind::kTie:
      return 3;
  }
  return 3;
}

// Flips with a large margin are the more surprising ones; among mere drifts, the larger ones.
double size(const PairComparison& pair) {
  const Divergence& d = pair.divergence;
  if (d.token)
    return std::max(d.token->reference_margin.value_or(0), d.token->candidate_margin.value_or(0));
  return d.max_drift ? d.max_drift->nats : 0;
}

int32_t position(const PairComparison& pair) {
  return pair.divergence.token ? pair.divergence.token->position
                               : pair.divergence.numeric->position;
}

}  // namespace

std::vector<RankedDivergence> worst_divergences(const RunComparison& comparison, size_t n) {
  std::vector<RankedDivergence> found;
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs) {
      if (pair.state == PairState::kCompared && (pair.divergence.token || pair.divergence.numeric))
        found.push_back({&cell, &pair});
    }
  }
  // Stable: what ranks alike stays in the order of cells and prompts.
  std::stable_sort(found.begin(), found.end(),
                   [](const RankedDivergence& a, const RankedDivergence& b) {
                     return std::tuple(kind_rank(*a.pair), -size(*a.pair), position(*a.pair)) <
                            std::tuple(kind_rank(*b.pair), -size(*b.pair), position(*b.pair));
                   });
  if (found.size() > n) found.resize(n);
  return found;
}

}  // namespace isobit

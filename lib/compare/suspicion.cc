#include "compare/suspicion.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "compare/run_comparison.h"

namespace isobit {
namespace {

std::vector<const PairComparison*> suspicious_pairs(const CellComparison& cell) {
  std::vector<const PairComparison*> pairs;
  for (const PairComparison& pair : cell.pairs) {
    if (pair.flip == FlipKind::kSuspicious) pairs.push_back(&pair);
  }
  std::ranges::stable_sort(pairs, {}, [](const PairComparison* pair) {
    return std::tuple(pair->repeat, pair->divergence.token->position);
  });
  return pairs;
}

}  // namespace

std::vector<SharedSuspicion> shared_suspicions(const CellComparison& cell) {
  const std::vector<const PairComparison*> pairs = suspicious_pairs(cell);
  std::vector<SharedSuspicion> found;
  for (size_t i = 0; i < pairs.size();) {
    SharedSuspicion together{.repeat = pairs[i]->repeat,
                             .first_position = pairs[i]->divergence.token->position};
    std::set<int32_t> prompts;
    for (; i < pairs.size() && pairs[i]->repeat == together.repeat; ++i) {
      const int32_t position = pairs[i]->divergence.token->position;
      if (position - together.first_position > kSharedWindow) break;
      together.last_position = position;
      if (prompts.insert(pairs[i]->prompt_index).second)
        together.request_ids.push_back(pairs[i]->request_id);
    }
    if (prompts.size() > 1) found.push_back(std::move(together));
  }
  return found;
}

}  // namespace isobit

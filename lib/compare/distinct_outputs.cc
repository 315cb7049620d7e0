#include "compare/distinct_outputs.h"

#include <algorithm>

#include "compare/answers.h"

namespace isobit {
namespace {

std::strong_ordering by_tokens(const Trace& a, const Trace& b) {
  return std::lexicographical_compare_three_way(
      a.positions.begin(), a.positions.end(), b.positions.begin(), b.positions.end(),
      [](const TracePosition& x, const TracePosition& y) { return x.token_id <=> y.token_id; });
}

bool all_same(std::span<const Trace* const> answers, int32_t prefix) {
  return std::all_of(answers.begin(), answers.end(), [prefix](const Trace* answer) {
    return answer->positions.size() == static_cast<size_t>(prefix);
  });
}

}  // namespace

std::optional<DistinctOutputs> distinct_outputs(std::span<const Trace* const> answers) {
  if (answers.size() < 2) return std::nullopt;
  const int32_t prefix = common_prefix(answers);
  if (all_same(answers, prefix)) return std::nullopt;
  std::vector<const Trace*> sorted(answers.begin(), answers.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Trace* a, const Trace* b) { return by_tokens(*a, *b) < 0; });
  DistinctOutputs found{.n_answers = static_cast<int64_t>(answers.size()), .first_split = prefix};
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && by_tokens(*sorted[i], *sorted[end]) == 0) ++end;
    ++found.n_distinct;
    found.n_most_common = std::max(found.n_most_common, static_cast<int64_t>(end - i));
    i = end;
  }
  return found;
}

}  // namespace isobit

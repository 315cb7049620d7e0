#include "report/divergence_tails.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/report.h"

namespace isobit {
namespace {

constexpr int32_t kBefore = 6;
constexpr int32_t kAfter = 9;

using AnswerKey = std::tuple<std::string, std::string, int32_t, int32_t>;

std::map<AnswerKey, const Trace*> answers_of(const RunRecord& run) {
  std::map<int32_t, std::string> names;
  for (const CellRecord& cell : run.cells) names[cell.index] = cell.name;
  std::map<AnswerKey, const Trace*> out;
  for (const SampleRecord& s : run.samples)
    out[{names[s.cell_index], s.trace.request_id, s.trace.sample_index, s.repeat}] = &s.trace;
  return out;
}

const Trace* find(const std::map<AnswerKey, const Trace*>& answers, const AnswerKey& key) {
  const auto at = answers.find(key);
  return at == answers.end() ? nullptr : at->second;
}

std::vector<TailToken> window(const Trace& mine, const Trace& other, int32_t first) {
  std::vector<TailToken> out;
  const auto end =
      std::min<size_t>(mine.positions.size(), static_cast<size_t>(first) + kBefore + kAfter);
  for (size_t i = static_cast<size_t>(first); i < end; ++i) {
    const TracePosition& p = mine.positions[i];
    out.push_back(
        {.token_id = p.token_id,
         .margin = p.margin,
         .differs = i >= other.positions.size() || other.positions[i].token_id != p.token_id});
  }
  return out;
}

int32_t parting(const PairComparison& pair) {
  return pair.divergence.token ? pair.divergence.token->position
                               : pair.divergence.numeric->position;
}

}  // namespace

std::vector<DivergenceTail> divergence_tails(const RunRecord& base, const RunRecord& candidate,
                                             const RunComparison& comparison, size_t n) {
  const auto base_answers = answers_of(base), candidate_answers = answers_of(candidate);
  const bool within = comparison.kind == ComparisonKind::kWithinRun;
  std::vector<DivergenceTail> out;
  for (const RankedDivergence& found : worst_divergences(comparison, n)) {
    const PairComparison& pair = *found.pair;
    const int32_t base_repeat = within && found.cell->is_reference ? 0 : pair.repeat;
    const Trace* a = find(base_answers, {found.cell->reference_name, pair.request_id,
                                         pair.sample_index, base_repeat});
    const Trace* b = find(candidate_answers,
                          {found.cell->name, pair.request_id, pair.sample_index, pair.repeat});
    if (a == nullptr || b == nullptr) continue;
    DivergenceTail tail{.cell = found.cell->name,
                        .request_id = pair.request_id,
                        .sample_index = pair.sample_index,
                        .repeat = pair.repeat,
                        .first_position = std::max(0, parting(pair) - kBefore),
                        .reference = {},
                        .candidate = {}};
    tail.reference = window(*a, *b, tail.first_position);
    tail.candidate = window(*b, *a, tail.first_position);
    out.push_back(std::move(tail));
  }
  return out;
}

}  // namespace isobit

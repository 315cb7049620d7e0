#include "report/run_measures.h"

#include <vector>

namespace isobit {
namespace {

std::optional<double> ratio(int64_t part, int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

bool asks_for_cache(const CellRecord& cell) {
  const auto value = cell.values.find("engine.prefix_cache");
  return value != cell.values.end() && value->second != "off";
}

// Of a cell: what the matrix asked for, or what the target did unasked.
std::vector<bool> cells_with_cache(const RunRecord& run) {
  std::vector<bool> with_cache;
  for (const CellRecord& cell : run.cells) with_cache.push_back(asks_for_cache(cell));
  for (const SampleRecord& sample : run.samples) {
    const auto cell = static_cast<size_t>(sample.cell_index);
    if (cell < with_cache.size() && sample.trace.scheduling.n_cached_tokens > 0)
      with_cache[cell] = true;
  }
  return with_cache;
}

}  // namespace

std::optional<double> RunMeasures::non_finite_ratio() const {
  return ratio(n_non_finite, n_answers);
}

std::optional<double> RunMeasures::prefix_cache_hit_ratio() const {
  return ratio(n_cached_tokens, n_prompt_tokens);
}

RunMeasures measure_run(const RunRecord& run) {
  RunMeasures out;
  const std::vector<bool> with_cache = cells_with_cache(run);
  for (const SampleRecord& sample : run.samples) {
    const auto cell = static_cast<size_t>(sample.cell_index);
    const auto prompt = static_cast<size_t>(sample.prompt_index);
    ++out.n_answers;
    out.n_non_finite += sample.trace.non_finite ? 1 : 0;
    if (cell >= with_cache.size() || !with_cache[cell] || prompt >= run.requests.size()) continue;
    out.n_prompt_tokens += static_cast<int64_t>(run.requests[prompt].prompt_token_ids.size());
    out.n_cached_tokens += sample.trace.scheduling.n_cached_tokens;
  }
  return out;
}

}  // namespace isobit

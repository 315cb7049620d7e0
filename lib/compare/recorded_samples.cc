#include "compare/recorded_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <tuple>

#include "base/error.h"

namespace isobit {
namespace {

constexpr const char* kOutputLengthAxis = "output.length";
constexpr const char* kAsGiven = "as-given";  // the axis leaves the request as it is

[[noreturn]] void refuse(const RunRecord& run, const std::string& what) {
  throw Error(ErrorCode::environment, fmt::format("run {}: {}", run.id, what),
              "the record contradicts itself; check the store it came from");
}

// How many tokens the cell lets the request generate; absent where only the target knows ("long":
// to the context's end).
std::optional<int32_t> length_limit(const Request& request, const CellRecord& cell) {
  const auto at = cell.values.find(kOutputLengthAxis);
  if (at == cell.values.end() || at->second == kAsGiven) return request.max_tokens;
  const std::string& text = at->second;
  int32_t tokens = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tokens);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && tokens >= 0;
  return is_number ? std::optional(tokens) : std::nullopt;
}

double axis_number(const CellRecord& cell, const std::string& axis, double otherwise) {
  const auto at = cell.values.find(axis);
  if (at == cell.values.end() || at->second == kAsGiven) return otherwise;
  const std::string& text = at->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

std::set<int32_t> cell_indices(const RunRecord& run) {
  std::set<int32_t> indices;
  for (const CellRecord& cell : run.cells) indices.insert(cell.index);
  return indices;
}

// `what`: "a sample", "a forced answer".
void check_place(const RunRecord& run, const std::set<int32_t>& known_cells, int32_t cell_index,
                 int32_t prompt_index, const char* what) {
  if (!known_cells.contains(cell_index))
    refuse(run, fmt::format("{} of cell {}, which the run does not have", what, cell_index));
  if (prompt_index < 0 || static_cast<size_t>(prompt_index) >= run.requests.size()) {
    refuse(run, fmt::format("{} of request {}, but the run has {} requests", what, prompt_index,
                            run.requests.size()));
  }
}

SampleKey key_of(const ForcedRecord& forced) {
  return {.prompt_index = forced.prompt_index,
          .sample_index = forced.sample_index,
          .repeat = forced.repeat};
}

SampleKey key_in_cell(const std::pair<SampleKey, const Trace*>& sample) {
  return sample.first;
}

using ForcedPlace = std::tuple<int32_t, SampleKey, std::string_view>;
ForcedPlace place_of(const ForcedRecord* forced) {
  return {forced->cell_index, key_of(*forced), forced->over_run};
}

}  // namespace

RecordedSamples::RecordedSamples(const RunRecord& run) {
  const std::set<int32_t> known_cells = cell_indices(run);
  for (const SampleRecord& sample : run.samples) {
    check_place(run, known_cells, sample.cell_index, sample.prompt_index, "a sample");
    const SampleKey key{.prompt_index = sample.prompt_index,
                        .sample_index = sample.trace.sample_index,
                        .repeat = sample.repeat};
    cells_[sample.cell_index].emplace_back(key, &sample.trace);
    max_repeat_ = std::max(max_repeat_, key.repeat);
  }
  for (auto& [cell_index, samples] : cells_) {
    std::ranges::sort(samples, {}, key_in_cell);
    const auto twice = std::ranges::adjacent_find(samples, {}, key_in_cell);
    if (twice == samples.end()) continue;
    refuse(run,
           fmt::format("two samples of cell {}, request {}, choice {}, repeat {}", cell_index,
                       twice->first.prompt_index, twice->first.sample_index, twice->first.repeat));
  }
  index_forced(run);
}

void RecordedSamples::index_forced(const RunRecord& run) {
  if (run.forced.empty()) return;
  const std::set<int32_t> known_cells = cell_indices(run);
  for (const ForcedRecord& forced : run.forced) {
    check_place(run, known_cells, forced.cell_index, forced.prompt_index, "a forced answer");
    forced_.push_back(&forced);
  }
  std::ranges::sort(forced_, {}, place_of);
  const auto twice = std::ranges::adjacent_find(forced_, {}, place_of);
  if (twice == forced_.end()) return;
  refuse(run, fmt::format("two forced answers of cell {}, request {}, choice {}, repeat {}",
                          (*twice)->cell_index, (*twice)->prompt_index, (*twice)->sample_index,
                          (*twice)->repeat));
}

const ForcedRecord* RecordedSamples::find_forced(int32_t cell_index, const SampleKey& key,
                                                 std::string_view over_run) const {
  const ForcedPlace wanted{cell_index, key, over_run};
  const auto at = std::ranges::lower_bound(forced_, wanted, {}, place_of);
  return at == forced_.end() || place_of(*at) != wanted ? nullptr : *at;
}

std::span<const std::pair<SampleKey, const Trace*>> RecordedSamples::of_cell(
    int32_t cell_index) const {
  const auto at = cells_.find(cell_index);
  if (at == cells_.end()) return {};
  return at->second;
}

const Trace* RecordedSamples::find(int32_t cell_index, const SampleKey& key) const {
  const auto samples = of_cell(cell_index);
  const auto at = std::ranges::lower_bound(samples, key, {}, key_in_cell);
  return at == samples.end() || at->first != key ? nullptr : at->second;
}

const CellRecord& cell_at(const RunRecord& run, int32_t index) {
  const auto at = std::find_if(run.cells.begin(), run.cells.end(),
                               [index](const CellRecord& cell) { return cell.index == index; });
  if (at == run.cells.end()) refuse(run, fmt::format("no cell has the index {}", index));
  return *at;
}

std::vector<const CellRecord*> cells_in_order(const RunRecord& run) {
  std::vector<const CellRecord*> cells;
  std::set<std::string> names;
  for (const CellRecord& cell : run.cells) {
    cells.push_back(&cell);
    if (!names.insert(cell.name).second) refuse(run, "two cells are called " + cell.name);
  }
  std::sort(cells.begin(), cells.end(),
            [](const CellRecord* a, const CellRecord* b) { return a->index < b->index; });
  const auto twice = std::adjacent_find(
      cells.begin(), cells.end(),
      [](const CellRecord* a, const CellRecord* b) { return a->index == b->index; });
  if (twice != cells.end())
    refuse(run, fmt::format("two cells have the index {}", (*twice)->index));
  return cells;
}

SampleComparisonOptions comparison_options(const Request& request, const CellRecord& a,
                                           const CellRecord& b) {
  SampleComparisonOptions options = comparison_options(request);
  const std::optional<int32_t> limit_a = length_limit(request, a);
  const std::optional<int32_t> limit_b = length_limit(request, b);
  options.expected_tokens =
      limit_a && limit_b ? std::optional(std::min(*limit_a, *limit_b)) : std::nullopt;
  if (limit_a != limit_b)
    options.first_n =
        limit_a && limit_b ? *options.expected_tokens : limit_a.value_or(limit_b.value_or(0));
  return options;
}

Sampling cell_sampling(const Request& request, const CellRecord& cell) {
  Sampling sampling = request.sampling;
  sampling.temperature = axis_number(cell, "sampling.temperature", sampling.temperature);
  sampling.repetition_penalty =
      axis_number(cell, "sampling.repetition_penalty", sampling.repetition_penalty);
  sampling.frequency_penalty =
      axis_number(cell, "sampling.frequency_penalty", sampling.frequency_penalty);
  sampling.presence_penalty =
      axis_number(cell, "sampling.presence_penalty", sampling.presence_penalty);
  return sampling;
}

}  // namespace isobit

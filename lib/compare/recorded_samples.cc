#include "compare/recorded_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

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

}  // namespace

RecordedSamples::RecordedSamples(const RunRecord& run) {
  std::set<int32_t> known_cells;
  for (const CellRecord& cell : run.cells) known_cells.insert(cell.index);
  for (const SampleRecord& sample : run.samples) {
    if (!known_cells.contains(sample.cell_index))
      refuse(run,
             fmt::format("a sample of cell {}, which the run does not have", sample.cell_index));
    if (sample.prompt_index < 0 ||
        static_cast<size_t>(sample.prompt_index) >= run.requests.size()) {
      refuse(run, fmt::format("a sample of request {}, but the run has {} requests",
                              sample.prompt_index, run.requests.size()));
    }
    const SampleKey key{.prompt_index = sample.prompt_index,
                        .sample_index = sample.trace.sample_index,
                        .repeat = sample.repeat};
    if (!cells_[sample.cell_index].emplace(key, &sample.trace).second) {
      refuse(run, fmt::format("two samples of cell {}, request {}, choice {}, repeat {}",
                              sample.cell_index, key.prompt_index, key.sample_index, key.repeat));
    }
    prompts_.insert(key.prompt_index);
    max_repeat_ = std::max(max_repeat_, key.repeat);
  }
}

const std::map<SampleKey, const Trace*>& RecordedSamples::of_cell(int32_t cell_index) const {
  static const std::map<SampleKey, const Trace*> kNone;
  const auto at = cells_.find(cell_index);
  return at == cells_.end() ? kNone : at->second;
}

const Trace* RecordedSamples::find(int32_t cell_index, const SampleKey& key) const {
  const auto& samples = of_cell(cell_index);
  const auto at = samples.find(key);
  return at == samples.end() ? nullptr : at->second;
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

#include "compare/group_keys.h"

#include "compare/sorted.h"

namespace isobit {

std::vector<Choice> asked_choices(const RunRecord& run) {
  std::vector<Choice> out;
  for (size_t i = 0; i < run.requests.size(); ++i) {
    for (int32_t s = 0; s < run.requests[i].sampling.n; ++s)
      out.emplace_back(static_cast<int32_t>(i), s);
  }
  return out;
}

std::set<int32_t> GroupKeys::all_repeats() const {
  std::set<int32_t> all = reference_repeats;
  all.insert(cell_repeats.begin(), cell_repeats.end());
  return all;
}

std::map<int32_t, GroupKeys> keys_by_group(const RunRecord& run, const RecordedSamples& samples) {
  std::map<int32_t, GroupKeys> groups;
  for (const CellRecord& cell : run.cells) {
    GroupKeys& group = groups[cell.reference_index];
    if (cell.complete) {
      for (const Choice& choice : asked_choices(run)) group.choices.push_back(choice);
    }
    std::set<int32_t>& repeats = cell.is_reference() ? group.reference_repeats : group.cell_repeats;
    for (const auto& [key, trace] : samples.of_cell(cell.index)) {
      const int32_t n_choices = run.requests[static_cast<size_t>(key.prompt_index)].sampling.n;
      group.choices.emplace_back(key.prompt_index, key.sample_index);
      for (int32_t s = 0; s < n_choices; ++s) group.choices.emplace_back(key.prompt_index, s);
      repeats.insert(key.repeat);
    }
  }
  for (auto& [reference, group] : groups) group.choices = sorted_once(std::move(group.choices));
  return groups;
}

std::vector<SampleKey> product(const std::vector<Choice>& choices,
                               const std::set<int32_t>& repeats) {
  std::vector<SampleKey> keys;
  keys.reserve(choices.size() * repeats.size());
  for (const auto& [prompt, sample] : choices) {
    for (const int32_t repeat : repeats)
      keys.push_back({.prompt_index = prompt, .sample_index = sample, .repeat = repeat});
  }
  return keys;
}

}  // namespace isobit

// Which samples each cell of a group should have: what its cells have recorded, taken together, and
// what was asked for where one of them says that it is complete.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compare/recorded_samples.h"

namespace isobit {

using Choice = std::pair<int32_t, int32_t>;  // (prompt, sample index)

// Every choice of every request, ascending.
std::vector<Choice> asked_choices(const RunRecord& run);

struct GroupKeys {
  std::vector<Choice> choices;  // ascending
  std::set<int32_t> reference_repeats = {0};
  std::set<int32_t> cell_repeats = {0};  // of the cells that are not the reference

  std::set<int32_t> all_repeats() const;
};

// By the index of the group's reference cell.
std::map<int32_t, GroupKeys> keys_by_group(const RunRecord& run, const RecordedSamples& samples);

// Every choice in every repeat, ascending.
std::vector<SampleKey> product(const std::vector<Choice>& choices,
                               const std::set<int32_t>& repeats);

}  // namespace isobit

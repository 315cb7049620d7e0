// A run's samples by what they are: cell, prompt, choice, repeat. The order of rows in the record
// plays no part from here on.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/divergence.h"
#include "record/run_record.h"

namespace isobit {

struct SampleKey {
  int32_t prompt_index = 0;
  int32_t sample_index = 0;
  int32_t repeat = 0;
  auto operator<=>(const SampleKey&) const = default;
};

class RecordedSamples {
 public:
  // Throws Error(environment) for two samples of one key and for a sample of no cell or no request;
  // the same for forced positions.
  // `run` must outlive this.
  explicit RecordedSamples(const RunRecord& run);

  // By key; empty for a cell without samples.
  std::span<const std::pair<SampleKey, const Trace*>> of_cell(int32_t cell_index) const;
  const Trace* find(int32_t cell_index, const SampleKey& key) const;  // null: not recorded
  // The cell's rows over the reference's answer: see ForcedRecord. Null: not recorded.
  const ForcedRecord* find_forced(int32_t cell_index, const SampleKey& key,
                                  std::string_view over_run) const;
  int32_t max_repeat() const { return max_repeat_; }

 private:
  void index_forced(const RunRecord& run);

  std::map<int32_t, std::vector<std::pair<SampleKey, const Trace*>>> cells_;
  std::vector<const ForcedRecord*> forced_;  // by (cell, key, run), whatever the record's order
  int32_t max_repeat_ = 0;
};

// The cell of that index. Throws Error(environment) if the record has none.
const CellRecord& cell_at(const RunRecord& run, int32_t index);

// By index; throws Error(environment) for two cells of one index or one name.
std::vector<const CellRecord*> cells_in_order(const RunRecord& run);

// How to compare a request's samples in two cells: the expected length, and the common prefix where
// `output.length` differs.
SampleComparisonOptions comparison_options(const Request& request, const CellRecord& a,
                                           const CellRecord& b);

// The request's temperature and penalties under the cell's sampling axes: what decides whether a
// margin says anything.
Sampling cell_sampling(const Request& request, const CellRecord& cell);

}  // namespace isobit

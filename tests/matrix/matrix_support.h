// Prompts, neighbours' text, cells and a sink for the tests of the matrix.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "matrix/plan.h"
#include "matrix/workload.h"
#include "record/run_sink.h"

namespace isobit::testing {

template <typename Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  FAIL("no error was thrown");
  std::abort();
}

// Prompt i has n_tokens[i] tokens: 1, then 1000 (i + 1), 1000 (i + 1) + 1, ...
inline std::vector<Request> prompts(const std::vector<int32_t>& n_tokens, int32_t max_tokens = 8) {
  std::vector<Request> out;
  for (size_t i = 0; i < n_tokens.size(); ++i) {
    Request& r = out.emplace_back();
    r.id = "p" + std::to_string(i);
    r.max_tokens = max_tokens;
    r.sampling.seed = 100 + i;
    for (int32_t t = 0; t < n_tokens[i]; ++t)
      r.prompt_token_ids.push_back(t == 0 ? 1 : 1000 * (static_cast<int32_t>(i) + 1) + t);
  }
  return out;
}

inline std::vector<int32_t> neighbour_text(int32_t n_tokens, uint64_t seed) {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n_tokens; ++i)
    ids.push_back(static_cast<int32_t>((seed + static_cast<uint64_t>(i)) % 500) + 2);
  return ids;
}

inline PlanSpec spec_of(const std::vector<std::string>& axis_flags,
                        const std::vector<std::string>& set_flags = {},
                        Design design = Design::kGrid) {
  PlanSpec spec;
  spec.design = design;
  apply_axis_flags(spec, axis_flags, set_flags);
  return spec;
}

inline Plan grid(const std::vector<std::string>& axis_flags,
                 const std::vector<std::string>& set_flags = {}) {
  return make_plan(spec_of(axis_flags, set_flags));
}

inline Plan one_at_a_time(const std::vector<std::string>& axis_flags,
                          const std::vector<std::string>& set_flags = {}) {
  return make_plan(spec_of(axis_flags, set_flags, Design::kOneAtATime));
}

inline std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> out;
  for (const CellRecord& cell : plan.cells) out.push_back(cell.name);
  return out;
}

// The last cell of the plan that varies exactly these.
inline CellRecord cell_with(const AxisValues& values) {
  CellRecord cell;
  cell.values = values;
  cell.name = cell_name(values);
  return cell;
}

// A sink in memory that keeps the first sample of each key, as the store does.
class MemorySink : public RunSink {
 public:
  void begin_cell(const CellRecord& cell) override { begun.push_back(cell.name); }
  Landing sample(const SampleRecord& s) override {
    const auto key = std::tuple(s.cell_index, s.prompt_index, s.repeat, s.trace.sample_index);
    const auto [at, inserted] = samples.emplace(key, s);
    if (inserted) return Landing::kStored;
    return at->second.trace.text == s.trace.text ? Landing::kAlreadySame
                                                 : Landing::kAlreadyDifferent;
  }
  void forced(const ForcedRecord& f) override { forced_records.push_back(f); }
  void end_cell(const CellRecord& cell) override { cells[cell.index] = cell; }

  std::set<int32_t> complete() const {
    std::set<int32_t> out;
    for (const auto& [index, cell] : cells) {
      if (cell.complete) out.insert(index);
    }
    return out;
  }

  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t>, SampleRecord> samples;
  std::vector<ForcedRecord> forced_records;
  std::vector<std::string> begun;
  std::map<int32_t, CellRecord> cells;
};

}  // namespace isobit::testing

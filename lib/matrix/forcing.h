// Which answers are computed once more under teacher forcing, so that positions after a flip can be
// compared too. Pure.
//
// An answer that has other tokens than the one it is compared with says nothing about the positions
// behind the first difference: its context is another one. So its cell runs again, with the same
// traffic, and the request is given the other answer's tokens; what it scores there is comparable
// at every position. Requests whose tokens agree only keep it company.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "matrix/plan.h"
#include "matrix/workload.h"
#include "record/run_record.h"

namespace isobit {

struct AnswerId {
  int32_t cell_index = 0;
  int32_t prompt_index = 0;
  int32_t repeat = 0;
  int32_t sample_index = 0;
  auto operator<=>(const AnswerId&) const = default;
};
using AnswerTokens = std::map<AnswerId, std::vector<int32_t>>;  // of answers without an error

// The tokens that an answer of this run is held to; empty: there are none.
struct ForcingSource {
  std::string over_run;  // as in ForcedRecord
  std::function<std::vector<int32_t>(const AnswerId&)> tokens;
};

// Each cell's reference cell, first repeat. `answers` must outlive the source.
ForcingSource forcing_over_reference(const Plan& plan, const AnswerTokens& answers);

// One execution of a cell: the prompts whose choice `sample_index` is forced.
struct ForcedPass {
  int32_t cell_index = 0;
  int32_t repeat = 0;
  int32_t sample_index = 0;
  std::map<int32_t, std::vector<int32_t>> tokens;  // by prompt index
};

// Passes for all answers that have other tokens than the source's, less those in `done`.
std::vector<ForcedPass> forced_passes(const AnswerTokens& answers, const ForcingSource& source,
                                      const std::set<AnswerId>& done);

// The cell's traffic with the pass's prompts forced and recorded, and no other.
void apply(const ForcedPass& pass, BuiltWorkload& built);

}  // namespace isobit

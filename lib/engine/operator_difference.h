// The first operator whose output differs between two executions of one request.
//
// Both executions are replayed with a probe, twice: once to fingerprint every operator's row, once
// to fetch the one row that differs. So memory stays small (16 bytes per row and operator) whatever
// the model, and a difference that a replay does not show again is told apart from none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/operator_probe.h"

namespace isobit {

// Executes the request (with whatever company) and shows every operator to the sink. Called twice;
// must do the same both times. Rows of other requests may be shown too.
using ProbedExecution = std::function<void(const OperatorSink& sink)>;

struct ProbedChoice {
  ProbedExecution execute;
  size_t request_index = 0;  // of the request in this execution
  int32_t sample_index = 0;
};

struct OperatorDifference {
  int32_t position = 0;  // absolute, of the row
  int64_t layer = 0;
  Operator op = Operator::kEmbed;
  int64_t element = 0;  // of the row
  float reference = 0;  // value of that element on both sides
  float candidate = 0;
  int64_t reference_step = 0;  // in which step of its execution the row was computed
  int64_t candidate_step = 0;
};

// In the order (position, layer, operator): a row depends on rows at positions up to its own and on
// earlier operators only, so the first difference in this order is where a difference begins.
// Positions that only one side computed are not compared. nullopt: no difference. Throws
// Error(internal) where a replay does not repeat itself.
std::optional<OperatorDifference> first_operator_difference(const ProbedChoice& reference,
                                                            const ProbedChoice& candidate);

// "position 17, layer 2, matmul (down), element 5: 0x3f800000 (1) against 0x3f800001 (1.00000012);
// steps 0 and 3"
std::string describe(const OperatorDifference& difference);

}  // namespace isobit

// One answer with what every operator computed for it: the steps it took part in, who shared them,
// and all of its rows at one position, so that two executions can be held against each other where
// their answers part.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator_difference.h"
#include "engine/operator_probe.h"
#include "targets/builtin_target.h"
#include "why/recorded_traffic.h"

namespace isobit {

// A target, and how its operators are watched. `run_probed` is empty where they cannot be: servers
// and imports.
struct WatchedTarget {
  Target* target = nullptr;
  std::function<void(const Workload&, const std::function<void(size_t, Trace)>&,
                     const OperatorSink&)>
      run_probed = {};
  std::function<const KernelSet&(const Workload&)> kernels = {};  // what would compute it
  bool can_be_probed() const { return static_cast<bool>(run_probed); }
};

// `target` must outlive what is returned.
WatchedTarget watched(BuiltinTarget& target);

// Consecutive rows of one choice in one step.
struct StepShare {
  std::string request_id;
  int32_t sample_index = 0;
  int32_t first_position = 0;
  int32_t n_rows = 0;
  bool is_prompt = false;  // prefill; else it decodes
  bool is_subject = false;
};

struct StepComposition {
  int64_t step = 0;
  int64_t n_rows = 0;
  std::vector<StepShare> shares;  // in row order
};

using OperatorPlace = std::pair<int64_t, Operator>;  // (layer, operator), in the order of the model

struct ProbedAnswer {
  Trace trace;
  std::map<int64_t, StepComposition> steps;          // those that computed a row of the choice
  std::map<OperatorPlace, std::vector<float>> rows;  // at the position asked for
};

// `position`: absolute, of the rows to keep.
ProbedAnswer probe_answer(const WatchedTarget& target, const Execution& execution, int32_t position,
                          const BetweenAnswers& between_answers = {});

// For first_operator_difference: steps after the one that computed `last_position` are not run.
ProbedChoice probed_choice(const WatchedTarget& target, const Execution& execution,
                           int32_t last_position, const BetweenAnswers& between_answers = {});

// How far one operator's row is from the other side's.
struct OperatorDrift {
  int64_t layer = 0;
  Operator op = Operator::kEmbed;
  int64_t n_elements = 0;
  int64_t n_different = 0;
  int64_t element = 0;  // the one that is furthest apart in ulp
  uint32_t ulp = 0;
  float reference = 0;  // its values
  float candidate = 0;
  double largest_difference = 0;  // |a - b| over the row, in binary64
};

// In the order of the model; operators that only one side has, or with rows of two widths (two
// models), are left out.
std::vector<OperatorDrift> drifts(const ProbedAnswer& reference, const ProbedAnswer& candidate);

}  // namespace isobit

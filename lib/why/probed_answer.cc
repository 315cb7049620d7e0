#include "why/probed_answer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compare/bits.h"

namespace isobit {
namespace {

// Thrown to leave an execution whose rest is of no interest. Not a std::exception: see
// recorded_traffic.cc.
struct Seen {};

bool is_subject(const ProbedRow& row, const Execution& execution) {
  return row.request_index == execution.item && row.sample_index == execution.sample_index;
}

StepComposition composition_of(int64_t step, std::span<const ProbedRow> rows,
                               const Execution& execution) {
  StepComposition out{.step = step, .n_rows = static_cast<int64_t>(rows.size()), .shares = {}};
  const ProbedRow* before = nullptr;
  for (const ProbedRow& row : rows) {
    const Request& request = execution.workload.items[row.request_index].request;
    const bool continues = before && before->request_index == row.request_index &&
                           before->sample_index == row.sample_index &&
                           before->position + 1 == row.position;
    before = &row;
    if (continues) {
      out.shares.back().n_rows++;
      continue;
    }
    out.shares.push_back(
        {.request_id = request.id,
         .sample_index = row.sample_index,
         .first_position = row.position,
         .n_rows = 1,
         .is_prompt = row.position < static_cast<int32_t>(request.prompt_token_ids.size()),
         .is_subject = is_subject(row, execution)});
  }
  return out;
}

// Collects what one operator's output says about the choice.
void note(ProbedAnswer& found, const Execution& execution, int32_t position, int64_t step,
          std::span<const ProbedRow> rows, const OperatorOutput& out) {
  for (size_t r = 0; r < rows.size(); ++r) {
    if (!is_subject(rows[r], execution)) continue;
    if (out.op == Operator::kEmbed && !found.steps.contains(step))
      found.steps.emplace(step, composition_of(step, rows, execution));
    if (rows[r].position != position) continue;
    const float* row = out.values + static_cast<int64_t>(r) * out.width;
    found.rows[{out.layer, out.op}].assign(row, row + out.width);
  }
}

OperatorDrift drift_of(const OperatorPlace& place, const std::vector<float>& a,
                       const std::vector<float>& b) {
  OperatorDrift drift{
      .layer = place.first, .op = place.second, .n_elements = static_cast<int64_t>(a.size())};
  for (size_t i = 0; i < a.size(); ++i) {
    if (bits_of(a[i]) == bits_of(b[i])) continue;
    drift.n_different++;
    const double distance = distance_nats(a[i], b[i]).value_or(HUGE_VAL);
    drift.largest_difference = std::max(drift.largest_difference, distance);
    const uint32_t ulp = ulp_distance(a[i], b[i]).value_or(UINT32_MAX);
    if (ulp <= drift.ulp) continue;
    drift.ulp = ulp;
    drift.element = static_cast<int64_t>(i);
    drift.reference = a[i];
    drift.candidate = b[i];
  }
  return drift;
}

}  // namespace

WatchedTarget watched(BuiltinTarget& target) {
  return {.target = &target,
          .run_probed =
              [&target](const Workload& workload, const auto& on_trace, const OperatorSink& sink) {
                target.run_with_operators(workload, on_trace, sink);
              },
          .kernels = [&target](const Workload& workload) -> const KernelSet& {
            return target.kernels_of(workload.settings);
          }};
}

ProbedAnswer probe_answer(const WatchedTarget& target, const Execution& execution, int32_t position,
                          const BetweenAnswers& between_answers) {
  ISOBIT_REQUIRE(target.can_be_probed());
  ProbedAnswer found;
  bool answered = false;
  try {
    target.run_probed(
        execution.workload,
        [&](size_t item, Trace trace) {
          if (item != execution.item || trace.sample_index != execution.sample_index) return;
          found.trace = std::move(trace);
          answered = true;
          throw Seen{};
        },
        [&](int64_t step, std::span<const ProbedRow> rows, const OperatorOutput& out) {
          if (between_answers && out.op == Operator::kEmbed) between_answers();
          note(found, execution, position, step, rows, out);
        });
  } catch (const Seen&) {
  }
  ISOBIT_REQUIRE(answered);
  return found;
}

ProbedChoice probed_choice(const WatchedTarget& target, const Execution& execution,
                           int32_t last_position, const BetweenAnswers& between_answers) {
  const auto execute = [target, execution, last_position,
                        between_answers](const OperatorSink& sink) {
    const auto watch = [&](int64_t step, std::span<const ProbedRow> rows,
                           const OperatorOutput& out) {
      if (between_answers && out.op == Operator::kEmbed) between_answers();
      const bool past = std::any_of(rows.begin(), rows.end(), [&](const ProbedRow& row) {
        return is_subject(row, execution) && row.position > last_position;
      });
      if (past) throw Seen{};
      sink(step, rows, out);
    };
    try {
      target.run_probed(
          execution.workload,
          [&](size_t item, const Trace& trace) {
            if (item == execution.item && trace.sample_index == execution.sample_index)
              throw Seen{};
          },
          watch);
    } catch (const Seen&) {
    }
  };
  return {
      .execute = execute, .request_index = execution.item, .sample_index = execution.sample_index};
}

std::vector<OperatorDrift> drifts(const ProbedAnswer& reference, const ProbedAnswer& candidate) {
  std::vector<OperatorDrift> out;
  for (const auto& [place, row] : reference.rows) {
    const auto other = candidate.rows.find(place);
    if (other != candidate.rows.end() && other->second.size() == row.size())
      out.push_back(drift_of(place, row, other->second));
  }
  return out;
}

}  // namespace isobit

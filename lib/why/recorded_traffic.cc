#include "why/recorded_traffic.h"

#include <algorithm>

#include "base/error.h"
#include "compare/recorded_samples.h"

namespace isobit {
namespace {

// Thrown through Target::run to leave it early. Not a std::exception, so that no target mistakes it
// for a failure of its own.
struct Answered {};

}  // namespace

BuiltWorkload traffic_of(const CellRecord& cell, std::span<const Request> requests,
                         const TrafficSource& source) {
  BuiltWorkload built =
      build_workload(cell, requests, source.limits, source.neighbour_tokens, source.seed);
  std::erase_if(built.workload.settings, [&](const auto& entry) {
    return std::ranges::find(source.settable, entry.first) == source.settable.end();
  });
  return built;
}

Request asked_request(const RunRecord& run, const SampleAddress& address) {
  Request request = run.requests[static_cast<size_t>(address.key.prompt_index)];
  request.sampling = cell_sampling(request, cell_at(run, address.cell_index));
  return request;
}

Execution recorded_execution(const RunRecord& run, const SampleAddress& address,
                             const TrafficSource& source) {
  BuiltWorkload built = traffic_of(cell_at(run, address.cell_index), run.requests, source);
  const auto at = std::ranges::find(built.prompt_index, std::optional(address.key.prompt_index));
  if (at == built.prompt_index.end()) {
    throw Error(ErrorCode::environment,
                "run " + run.id + ": the traffic of " + sample_ref(run, address) +
                    " cannot be rebuilt: its request is not in it",
                "isobit store check looks for damage");
  }
  return {.workload = std::move(built.workload),
          .item = static_cast<size_t>(at - built.prompt_index.begin()),
          .sample_index = address.key.sample_index};
}

Execution alone(const Execution& execution) {
  Execution one{.workload = {.items = {execution.workload.items[execution.item]},
                             .concurrency = 1,
                             .settings = execution.workload.settings},
                .item = 0,
                .sample_index = execution.sample_index};
  one.workload.items[0].recorded = true;
  return one;
}

Trace answer_of(Target& target, const Execution& execution, const BetweenAnswers& between_answers) {
  std::optional<Trace> found;
  try {
    target.run(execution.workload, [&](size_t item, Trace trace) {
      if (between_answers) between_answers();
      if (item != execution.item || trace.sample_index != execution.sample_index) return;
      found = std::move(trace);
      throw Answered{};
    });
  } catch (const Answered&) {
  }
  if (found) return *std::move(found);
  throw Error(ErrorCode::internal, "target '" + target.name() + "' never answered request '" +
                                       execution.request().id + "'");
}

bool same_answer(const Trace& a, const Trace& b) {
  const Divergence d = compare_samples(a, b);
  return !d.numeric && !d.token && !d.finish_differs && a.positions.size() == b.positions.size() &&
         a.error == b.error;
}

}  // namespace isobit

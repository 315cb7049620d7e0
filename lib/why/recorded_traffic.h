// A recorded sample as something that can be asked again: the traffic of its cell, rebuilt from the
// plan, and the place of its request in it.
//
// A cell's traffic is a pure function of the plan, the requests and the plan's seed, and the
// engine's steps are a pure function of the traffic, so what was recorded can be repeated step by
// step on the same checkpoint.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/divergence.h"
#include "matrix/workload.h"
#include "record/run_record.h"
#include "record/target.h"
#include "why/sample_ref.h"

namespace isobit {

// One choice of one request, in company.
struct Execution {
  Workload workload;
  size_t item = 0;  // of workload.items
  int32_t sample_index = 0;

  const Request& request() const { return workload.items[item].request; }
};

// What rebuilding needs beside the record.
struct TrafficSource {
  ModelLimits limits;
  NeighbourTokens neighbour_tokens;
  uint64_t seed = 0;                  // the plan's
  std::vector<std::string> settable;  // axes that the target declares; others are not passed on
};

// The traffic of any cell over the run's requests, also of one that the run did not have. Throws as
// build_workload does.
BuiltWorkload traffic_of(const CellRecord& cell, std::span<const Request> requests,
                         const TrafficSource& source);

// The request as its cell asks it, without its company.
Request asked_request(const RunRecord& run, const SampleAddress& address);

// In its recorded schedule, with its neighbours. Throws Error(environment) for a record whose
// request is not in its cell's traffic.
Execution recorded_execution(const RunRecord& run, const SampleAddress& address,
                             const TrafficSource& source);

// The same request with the same settings, and nobody else.
Execution alone(const Execution& execution);

// Called between answers (and steps, where they can be seen); throws to end the work.
using BetweenAnswers = std::function<void()>;

// Runs until the choice is answered; what would come after it is not computed. Throws
// Error(internal) when the target never delivers it.
Trace answer_of(Target& target, const Execution& execution,
                const BetweenAnswers& between_answers = {});

// Whether nothing that was recorded of both differs: tokens, endings, scores, hashes.
bool same_answer(const Trace& a, const Trace& b);

}  // namespace isobit

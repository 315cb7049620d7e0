// From one cell and the prompts to the traffic that makes the cell happen. Pure; token ids of
// neighbours come from the caller, so that nothing here needs a tokenizer.
//
// Items are admitted in order, at most C (load.concurrency) in flight, so with answers of one
// length item i stands in row i mod C of its wave. What each axis does to the list of items (probe:
// a recorded prompt; neighbour: a request that only loads the target):
//
//   load.neighbours
//     same     the probes alone. Where their number is no multiple of C, copies of the probes
//              follow, not recorded, so that the last wave is as full as the others.
//     other    a neighbour after each probe: other text, the same number of tokens.
//     longer   the same, 4 times as long (as far as the context allows).
//     shorter  the same, 4 tokens long.
//     sampled  the same length as the probe, temperature 1, each with a seed of its own.
//     Half of the rows in flight are then neighbours; more of them fill the last wave.
//   load.batch_shape
//     uniform  as given.
//     ragged   probes ordered longest, shortest, second longest, second shortest, ... so that
//              every wave holds both. Where the longest has not twice the tokens of the shortest,
//              a neighbour of 4 tokens stands beside each probe.
//     needle   every probe in turn is the one long row of a wave of its own, beside C - 1
//              neighbours of 4 tokens. Costs C requests a probe.
//     mixed    C neighbours of 4 tokens go first and generate 2, 4, 6, ... tokens, so that from
//              then on rows become free one after the other and each probe's prefill meets
//              others' decode. C more neighbours follow, so that the last probes decode beside a
//              prefill too.
//   load.position
//     first    as given.
//     middle   the list rotated left by C / 2: every prompt moves by half a batch.
//     last     the list reversed: row i becomes row C - 1 - i.
//     permuted shuffled by the plan's seed; with needle, inside each wave, so that waves keep one
//              needle.
//
// What cannot be, and is left out of plans (plan.h): any of these three but the default at C = 1;
// needle with neighbours other than its own; mixed with a position, since its prompts take whatever
// row is free. Neighbours never stop early (ignore_eos), so that company lasts as long as the probe
// beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matrix/plan.h"
#include "record/target.h"

namespace isobit {

// What the model and the target can take; 0 where it is not known.
struct ModelLimits {
  int32_t context_tokens = 0;   // prompt and answer together
  int32_t max_concurrency = 0;  // the scheduler's maximum: the value of load.concurrency=peak
};

// Returns n_tokens >= 1 token ids of plausible text; the same for the same arguments.
using NeighbourTokens = std::function<std::vector<int32_t>(int32_t n_tokens, uint64_t seed)>;

struct BuiltWorkload {
  Workload workload;
  std::vector<std::optional<int32_t>>
      prompt_index;  // parallel to workload.items; nullopt for a neighbour
};

// `requests` are the prompts as given. Throws Error(usage) where the cell is impossible for them (a
// prompt past the context, a concurrency above the target's), naming the cell and the prompt.
BuiltWorkload build_workload(const CellRecord& cell, std::span<const Request> requests,
                             const ModelLimits& limits, const NeighbourTokens& neighbour_tokens,
                             uint64_t seed);

// The requests of a cell: prompt.length, output.length and sampling.* applied. build_workload calls
// it.
std::vector<Request> cell_requests(const CellRecord& cell, std::span<const Request> requests,
                                   const ModelLimits& limits,
                                   const NeighbourTokens& neighbour_tokens, uint64_t seed);

struct CellEstimate {
  int64_t n_probes = 0;  // recorded requests, all repeats
  int64_t n_neighbours = 0;
  int64_t prompt_tokens = 0;         // of both
  int64_t max_generated_tokens = 0;  // of both, if no answer stops early
};

// Parallel to plan.cells. Throws as build_workload does: a plan that can be estimated can be sent.
std::vector<CellEstimate> estimate_plan(const Plan& plan, std::span<const Request> requests,
                                        const ModelLimits& limits,
                                        const NeighbourTokens& neighbour_tokens);

}  // namespace isobit

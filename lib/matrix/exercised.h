// Proof that a cell happened, from what the target reported about each sample. A cell without proof
// is not_exercised, whatever its answers look like.
#pragma once

#include <span>
#include <string>

#include "matrix/workload.h"

namespace isobit {

struct Exercised {
  bool exercised = false;
  std::string reason;  // in plain words, when it was not
};

// `samples` are those of one execution of the cell's workload (one repeat). Asked of them, in
// order:
//
//   load.concurrency C
//     some sample shared a step with C - 1 others, none with more; for C > 1 every sample had
//     company, except those admitted in the last wave, whose company may have finished first
//   engine.chunked_prefill
//     off: every prompt in one piece, and one more per preemption. N: no piece above N tokens,
//     every prompt longer than N in two or more that add up to it, and at least one such prompt
//   load.batch_shape
//     ragged: the longest prompt sent has at least twice the tokens of the shortest. mixed: at
//     least half of the samples took part in a step that computed prefill and decode together
//   load.position
//     the samples' first rows are not all the same row; of needles, and of a single sample, not row
//     0
//
// Samples that ended in an error prove nothing. load.neighbours is proved by company: half of the
// traffic, or more, is neighbours, by construction.
Exercised judge_exercised(const CellRecord& cell, std::span<const SampleRecord* const> samples,
                          const BuiltWorkload& built);

}  // namespace isobit

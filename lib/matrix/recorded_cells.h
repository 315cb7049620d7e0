// Recorded answers held against what their cells asked for: facts that cannot all be true of one
// execution. Whoever shortens answers by hand, or says of a cell that it was exercised, has to
// contradict something else that is recorded.
#pragma once

#include <string>
#include <vector>

#include "matrix/plan.h"
#include "matrix/workload.h"
#include "record/run_record.h"

namespace isobit {

// One sentence for each contradiction, beginning with its place, at most `max_sentences`:
//
//   an answer that cannot be one to its request (answer_check.h): its length, its ending, its steps
//     and pieces of the prompt, or its rows' tokens, logprobs, margins and alternatives
//   a cell says that it was exercised, and what a repeat of it recorded does not show that
//     (exercised.h); of repeats that lack answers nothing is said
//
// The model's own stop tokens come from the fingerprint ("config.eos_token_ids"). Token ids of a
// redacted run are digests, which only compare. REQUIRES: samples refer to cells and requests that
// are there. Throws Error(usage) where a cell is impossible for the requests.
std::vector<std::string> answers_unlike_cells(const RunRecord& run, const Plan& plan,
                                              const ModelLimits& limits, size_t max_sentences = 20);

}  // namespace isobit

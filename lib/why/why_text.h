// What explain, bisect, reduce and replay found, for people at a terminal. Text from models,
// prompts and records is made visible first (report/untrusted_text.h).
#pragma once

#include <functional>
#include <string>

#include "why/bisection.h"
#include "why/explanation.h"
#include "why/reduction.h"
#include "why/repetition.h"

namespace isobit {

using TokenText = std::function<std::string(int32_t token_id)>;  // its bytes; may be empty

// Both tails around the divergence, margins, the first operator that differs with both bit patterns
// and who shared its step, the clause of the contract, and how the flip came about.
std::string explanation_text(const Explanation& explanation, const TokenText& token_text);

std::string bisection_text(const Bisection& bisection);
// "engine.kernel_set: cpu -> cpu-adaptive, model: ..."; "nothing" for the empty set.
std::string change_set_text(const Bisection& bisection, const ChangeSet& set);

std::string reduction_text(const Reduction& reduction);
// `against`: whose answer each execution is held against, "recorded" or "alone".
std::string repetition_text(const Repetition& repetition, const std::string& sample,
                            const std::string& against);

}  // namespace isobit

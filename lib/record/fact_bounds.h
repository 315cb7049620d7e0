// What a recorded fact can be at all: the one place that says it. Records come back from files that
// anybody may have written; what no target can have answered is refused with the name of its field,
// and so is a run that says it is redacted and holds words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/run_record.h"

namespace isobit {

// Token ids are from 0; repeats, choices and what is asked for stay below these.
inline constexpr int32_t kMaxRepeats = 100000;  // what a matrix file may ask for
inline constexpr int32_t kMaxChoices = 1024;    // what a prompt file may ask for
// Rounding puts a logprob of a sharp row a little above 0.
inline constexpr float kMaxLogprob = 1;
// A redacted id is 31 bits of a digest. No vocabulary has so many tokens: of ids that are digests
// one in 2^11 is below it, of plain ids every one.
inline constexpr int32_t kPlainTokenIds = 1 << 20;

// One sentence for each fact out of its bounds, beginning with its field: "samples[3]: tokens[0] is
// -5, expected 0 or more". At most `max_facts`. Times are not judged: a clock may jump.
std::vector<std::string> facts_out_of_bounds(const RunRecord& run, size_t max_facts = 20);

}  // namespace isobit

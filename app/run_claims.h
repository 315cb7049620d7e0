// What a stored run says of itself, held against its own rows: a record that was changed by hand
// must not pass a gate under a digest that was computed before.
#pragma once

#include <string>
#include <vector>

#include "record/run_record.h"

namespace isobit::app {

// One sentence for each claim that the rows do not bear out: the fingerprint's id, the digest of
// the prompts (of a redacted run it cannot be computed again), the cells that the plan lists, the
// repeats that it asks for, that a redacted run holds no words, that each fact is one a target can
// give (record/fact_bounds.h). Whether the answers are what the target gave cannot be told from a
// record; a signed statement says who vouches.
std::vector<std::string> broken_claims(const RunRecord& run);

// Throws Error(environment) naming `where` and the first of them. A run may still lack answers that
// a store lost: whoever judges it counts them as missing.
void require_sound_claims(const RunRecord& run, const std::string& where);

// Also that it has as many answers as it says: of every run that comes in or leaves as a file,
// where what is missing may have been taken out.
void require_whole_run(const RunRecord& run, const std::string& where);

}  // namespace isobit::app

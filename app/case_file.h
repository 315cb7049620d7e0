// A diverging case as a file that can be sent to somebody: a prompts file (JSONL) whose lines are
// the requests in order of admission, and whose subject carries the schedule under `meta`.
//
// Any command that reads prompts reads it; `isobit replay --case` also repeats its schedule.
#pragma once

#include <string>
#include <vector>

#include "app/loaded_model.h"
#include "why/reduction.h"

namespace isobit::app {

// Ends with a newline. Throws Error(unsupported) for a case with forced tokens.
std::string case_file_text(const DivergingCase& c);

// `settable`: the axes that the target can set. Throws Error(environment) for a file that cannot be
// read and Error(usage), naming the file, for one that is no case.
DivergingCase read_case_file(const std::string& path, const LoadedText& text,
                             const std::vector<std::string>& settable);

}  // namespace isobit::app

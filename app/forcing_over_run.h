// The answers of an earlier run, as what a new run's answers are held to under teacher forcing.
#pragma once

#include "matrix/forcing.h"
#include "record/run_record.h"

namespace isobit::app {

// Cells and prompts correspond as in a comparison of the two runs; the first repeat of the earlier
// one counts. `header`: the new run without samples. Throws Error(unsupported) where nothing
// corresponds.
ForcingSource forcing_over_run(const RunRecord& base, const RunRecord& header);

}  // namespace isobit::app

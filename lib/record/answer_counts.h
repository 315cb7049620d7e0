// How many answers a run should have, by what it says of itself, and where it has others: answers
// that were taken out leave no trace but their number.
#pragma once

#include <string>
#include <vector>

#include "record/run_record.h"

namespace isobit {

// One sentence for each place: a cell of a complete run that is not complete; a repeat of a
// complete cell that has not one answer for each choice of each request; an answer that is a choice
// nobody asked for. Empty for a run that has what it says. REQUIRES: samples refer to cells and
// requests that are there.
std::vector<std::string> wrong_answer_counts(const RunRecord& run);

}  // namespace isobit

// Are two records of one run id the same run?
#pragma once

#include <optional>
#include <string>

#include "record/run_record.h"

namespace isobit {

struct RunDifference {
  std::string place;        // "samples[3].text"
  std::string here, there;  // both values as JSON, shortened
};

// The first difference that cannot be right if both are records of one execution. Where one of them
// is not complete, only what both have must be the same: the other may have gone on from it.
std::optional<RunDifference> run_difference(const RunRecord& here, const RunRecord& there);

}  // namespace isobit

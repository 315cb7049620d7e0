// What a comparison keeps of the runs themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/run_comparison.h"

namespace isobit {

RunSide describe_run(const RunRecord& run);

// Ids of the requests that no cell has a sample of, in order.
std::vector<std::string> unsampled_requests(const RunRecord& run);

std::vector<std::vector<std::string>> request_tags(const RunRecord& run);

// Axes whose values differ, by name; an axis that one side lacks has the value "" there.
std::vector<ValueChange> value_changes(const std::map<std::string, std::string>& from,
                                       const std::map<std::string, std::string>& to);

// A tie is a margin that twice the measured noise could close (both tokens may move).
FlipThresholds with_noise(FlipThresholds thresholds, const std::optional<Drift>& noise);

void sort_by_cell_order(RunComparison& comparison, const RunRecord& run);

}  // namespace isobit

// Earlier runs of the same target and the same prompts, for the trend in a report.
#pragma once

#include <string>
#include <vector>

#include "app/console.h"
#include "record/run_record.h"
#include "report/report.h"

namespace isobit::app {

// Of the store that holds `run`: up to twelve complete runs that started no later, `run` itself
// last, each held against its own reference cells. Older ones are left out where their answers
// together would be more than 50,000. One that cannot be read is told of and left out.
std::vector<TrendPoint> run_trend(const RunRecord& run, const std::string& store, Console& console);

}  // namespace isobit::app

// The plots of the HTML report, each a <figure> with its data in a table behind it. Empty where
// the comparison has nothing to show.
#pragma once

#include <string>

#include "compare/run_comparison.h"

namespace isobit {

std::string raster_figure(const RunComparison& comparison);     // cells by prompts
std::string survival_figure(const RunComparison& comparison);   // of the first flip
std::string margins_figure(const RunComparison& comparison);    // at flips
std::string axes_figure(const RunComparison& comparison);       // agreement with intervals
std::string drift_figure(const RunComparison& comparison);      // ECDF
std::string positions_figure(const RunComparison& comparison);  // where answers part
std::string price_figure(const RunComparison& comparison);      // tokens/s beside agreement

}  // namespace isobit

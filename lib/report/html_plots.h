// The pictures of the HTML report, each a <figure> with its data in a table behind it. Empty where
// the comparison has nothing to show.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace isobit {

std::string raster_figure(const RunComparison& comparison);     // cells by prompts
std::string survival_figure(const RunComparison& comparison);   // of the first flip
std::string margins_figure(const RunComparison& comparison);    // of all choices, and of flips
std::string flip_law_figure(const RunComparison& comparison);   // as fitted, beside what was seen
std::string drift_figure(const RunComparison& comparison);      // ECDF
std::string positions_figure(const RunComparison& comparison);  // where answers part
std::string price_figure(const RunComparison& comparison);      // tokens/s beside agreement
std::string trend_figure(const std::vector<TrendPoint>& trend);

// Agreement by axis with intervals, and by two axes at once: a section.
std::string axes_section(const RunComparison& comparison);

}  // namespace isobit

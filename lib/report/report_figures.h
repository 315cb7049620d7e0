// The figures of a comparison in words. A section appears only where it has something to say.
#pragma once

#include <string>
#include <vector>

#include "compare/run_comparison.h"

namespace isobit {

// Why answers differ, suspicious flips, the flip law, certificates, distinct outputs. Names in the
// sentences are visible text, and no more than that: each format makes them safe for itself.
struct FigureSection {
  std::string title;
  std::vector<std::string> sentences = {};
};
std::vector<FigureSection> figure_sections(const RunComparison& comparison);

// For a terminal of 80 columns: the sections, then how long answers stay the same, how much alike
// they are and what each cell cost. Each part starts with an empty line.
std::string figures_text(const RunComparison& comparison);

// `text` over as many lines as it takes; every line after the first is indented by two spaces more.
std::string paragraph(const std::string& text, size_t max_width = 80);

}  // namespace isobit

// What `run`, `compare` and `gate` print: tables of 80 columns and the verdict with its reasons.
#include <fmt/format.h>

#include "report/report.h"
#include "report/report_phrases.h"
#include "report/text_table.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

bool is_compared(const RunComparison& comparison, const CellComparison& cell) {
  return comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference ||
         !cell.pairs.empty();
}

std::vector<std::string> cell_row(const RunComparison& comparison, const CellComparison& cell) {
  const PairCounts& c = cell.counts;
  const bool compared = is_compared(comparison, cell);
  const auto shown = [compared](int64_t n) {
    return compared ? fmt::format("{}", n) : std::string("-");
  };
  return {cell.name,
          fmt::format("{}", cell.n_samples),
          compared ? rate_text(cell.token_match) : "-",
          compared ? rate_text(cell.bit_match) : "-",
          shown(c.numeric_divergences),
          shown(c.token_divergences),
          shown(c.missing + c.errors),
          state_words(cell)};
}

}  // namespace

std::string cells_table(const RunComparison& comparison) {
  const std::vector<TableColumn> columns = {{"cell", Align::kLeft},     {"samples", Align::kRight},
                                            {"same", Align::kRight},    {"bits", Align::kRight},
                                            {"drift", Align::kRight},   {"flips", Align::kRight},
                                            {"missing", Align::kRight}, {"state", Align::kLeft}};
  std::vector<std::vector<std::string>> rows;
  for (const CellComparison& cell : comparison.cells) rows.push_back(cell_row(comparison, cell));
  return text_table(columns, rows);
}

std::string axes_table(const RunComparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  for (const AxisSummary& axis : comparison.axes) {
    for (const AxisValueSummary& value : axis.values) {
      if (axis.values.size() < 2 || value.n_cells == 0) continue;
      rows.push_back({axis.axis, value.value, fmt::format("{}", value.n_cells),
                      rate_text(value.token_match), interval_text(value.token_match.wilson95),
                      fmt::format("{}", value.counts.numeric_divergences),
                      fmt::format("{}", value.counts.token_divergences)});
    }
  }
  if (rows.empty()) return {};
  return text_table({{"axis", Align::kLeft},
                     {"value", Align::kLeft},
                     {"cells", Align::kRight},
                     {"same", Align::kRight},
                     {"95 %", Align::kRight},
                     {"drift", Align::kRight},
                     {"flips", Align::kRight}},
                    rows);
}

}  // namespace isobit

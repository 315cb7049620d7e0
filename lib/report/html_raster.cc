// Every answer of a comparison as one square: cells by prompts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html_blocks.h"
#include "report/html_plots.h"
#include "report/html_text.h"

namespace isobit {
namespace {

constexpr size_t kRasterRows = 60;

enum class Square { kAbsent, kSame, kDrift, kFlip, kGap };
constexpr const char* kSquareClass[] = {"", "m-same", "m-drift", "m-flip", "m-gap"};

Square square_of(const PairComparison& pair) {
  if (pair.divergence.token || pair.divergence.finish_differs) return Square::kFlip;
  if (pair.divergence.numeric) return Square::kDrift;
  return pair.sameness(Level::kRequestReproducible) == Sameness::kSame ? Square::kSame
                                                                       : Square::kGap;
}

// A flip hides nothing: it outweighs a gap, a gap outweighs drift.
int weight(Square square) {
  static constexpr int kWeights[] = {0, 1, 2, 4, 3};
  return kWeights[static_cast<int>(square)];
}

std::vector<Square> squares_of(const CellComparison& cell,
                               const std::map<int32_t, size_t>& columns) {
  std::vector<Square> row(columns.size(), Square::kAbsent);
  for (const PairComparison& pair : cell.pairs) {
    Square& at = row[columns.at(pair.prompt_index)];
    const Square found = square_of(pair);
    if (weight(found) > weight(at)) at = found;
  }
  return row;
}

// Neighbours of one kind become one rectangle.
// Squares apart where there is room for a gap, else runs of one kind in one piece.
void add_row(std::map<Square, std::string>& paths, const std::vector<Square>& row, double x0,
             double width, double y, double height) {
  const double gap = width >= 5 ? 1 : 0;
  for (size_t i = 0; i < row.size();) {
    size_t end = i + 1;
    while (gap == 0 && end < row.size() && row[end] == row[i]) ++end;
    if (row[i] != Square::kAbsent) {
      const double length = static_cast<double>(end - i) * width - gap;
      paths[row[i]] += fmt::format("M{:.2f} {:.1f}h{:.2f}v{:.1f}h-{:.2f}z",
                                   x0 + static_cast<double>(i) * width, y, length, height, length);
    }
    i = end;
  }
}

std::string key() {
  return html_key({{KeyMark::kSquare, "m-same", "the same"},
                   {KeyMark::kSquare, "m-drift", "other bits, same tokens"},
                   {KeyMark::kSquare, "m-flip", "other tokens"},
                   {KeyMark::kSquare, "m-gap", "not comparable"}});
}

std::vector<const CellComparison*> compared_cells(const RunComparison& comparison) {
  std::vector<const CellComparison*> out;
  for (const CellComparison& cell : comparison.cells) {
    if (!cell.pairs.empty()) out.push_back(&cell);
  }
  return out;
}

std::string names(const std::vector<const CellComparison*>& cells) {
  HtmlTable table{.name = "Rows of the picture", .columns = {{"row"}, {"cell"}}, .n_open = 40};
  for (size_t i = 0; i < cells.size(); ++i) {
    table.rows_html.push_back({std::to_string(i + 1), html_name(cells[i]->name)});
  }
  return html_table(table);
}

}  // namespace

std::string raster_figure(const RunComparison& comparison) {
  std::vector<const CellComparison*> cells = compared_cells(comparison);
  std::map<int32_t, size_t> columns;
  for (const CellComparison* cell : cells) {
    for (const PairComparison& pair : cell->pairs) columns.emplace(pair.prompt_index, 0);
  }
  if (columns.empty()) return {};
  size_t n = 0;
  for (auto& [prompt, column] : columns) column = n++;
  const size_t n_rows = std::min(cells.size(), kRasterRows);
  const double row_height = std::clamp(240.0 / static_cast<double>(n_rows), 6.0, 34.0);
  const double width = 386.0 / static_cast<double>(n);
  std::map<Square, std::string> paths;
  std::string numbers;
  for (size_t r = 0; r < n_rows; ++r) {
    const double y = 4 + static_cast<double>(r) * row_height;
    add_row(paths, squares_of(*cells[r], columns), 30, width, y, row_height - 1);
    if (row_height >= 12 || r % 5 == 0)
      numbers +=
          fmt::format("<text class=\"label\" x=\"24\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                      y + row_height / 2 + 4, r + 1);
  }
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 420 {:.0f}\" role=\"img\" aria-label=\"One row per cell, one column per "
      "prompt; the table of cells has the counts\">{}",
      8 + static_cast<double>(n_rows) * row_height, numbers);
  for (const auto& [square, d] : paths)
    svg += fmt::format("<path class=\"{}\" d=\"{}\"/>", kSquareClass[static_cast<int>(square)], d);
  std::string caption =
      fmt::format("{} cells by {} prompts, in the order of the run", cells.size(), n);
  if (cells.size() > n_rows) caption += fmt::format("; the first {} cells are drawn", n_rows);
  return html_figure("Every answer", caption, svg + "</svg>" + key(),
                     names({cells.begin(), cells.begin() + static_cast<ptrdiff_t>(n_rows)}));
}

}  // namespace isobit

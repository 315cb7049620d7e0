// Agreement by one axis at a time, with intervals, and by two axes at once.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html_blocks.h"
#include "report/html_plots.h"
#include "report/html_text.h"
#include "report/report_phrases.h"

namespace isobit {
namespace {

std::string interval_bar(const Proportion& match) {
  const auto at = [](double share) { return 4 + share * 112; };
  return fmt::format(
      "<svg viewBox=\"0 0 120 14\" aria-hidden=\"true\"><path class=\"grid\" d=\"M4 7H116\"/>"
      "<path class=\"line\" d=\"M{:.1f} 7H{:.1f}\"/><circle class=\"m-dot\" cx=\"{:.1f}\" cy=\"7\" "
      "r=\"4\"/></svg>",
      at(match.wilson95.low), at(match.wilson95.high),
      at(match.trials == 0 ? 0 : double(match.matches) / double(match.trials)));
}

std::string table_by_value(const RunComparison& comparison) {
  HtmlTable table{.name = "Agreement by axis",
                  .columns = {{"value"},
                              {"cells", true},
                              {"same tokens", true},
                              {"0 to 100 %"},
                              {"95 % interval", true},
                              {"same bits", true}},
                  .n_open = 40,
                  .what = "values"};
  for (const AxisSummary& axis : comparison.axes) {
    if (axis.values.size() < 2) continue;
    for (const AxisValueSummary& value : axis.values) {
      if (value.n_cells == 0) continue;
      table.rows_html.push_back(
          {html_code(axis.axis + "=" + value.value, kNameCharacters), std::to_string(value.n_cells),
           rate_text(value.token_match), interval_bar(value.token_match),
           interval_text(value.token_match.wilson95), rate_text(value.bit_match)});
    }
  }
  return table.rows_html.empty() ? std::string() : html_table(table);
}

// ---- two axes

constexpr size_t kMostValues = 12;

struct Both {
  Proportion tokens, bits;
};
using Grid = std::map<std::pair<std::string, std::string>, Both>;

void add(Proportion& sum, const Proportion& other) {
  sum.matches += other.matches;
  sum.trials += other.trials;
}

Grid grid_of(const RunComparison& comparison, const std::string& down, const std::string& across) {
  Grid grid;
  for (const CellComparison& cell : comparison.cells) {
    const auto a = cell.values.find(down), b = cell.values.find(across);
    if (a == cell.values.end() || b == cell.values.end() || cell.token_match.trials == 0) continue;
    Both& both = grid[{a->second, b->second}];
    add(both.tokens, cell.token_match);
    add(both.bits, cell.bit_match);
  }
  return grid;
}

// The two axes whose values meet most often. Axes that vary one at a time meet nowhere.
std::pair<const AxisSummary*, const AxisSummary*> widest(const RunComparison& comparison) {
  std::pair<const AxisSummary*, const AxisSummary*> best = {nullptr, nullptr};
  size_t most = 0;
  const auto fits = [](const AxisSummary& a) {
    return a.values.size() >= 2 && a.values.size() <= kMostValues;
  };
  for (size_t i = 0; i < comparison.axes.size(); ++i) {
    for (size_t k = i + 1; k < comparison.axes.size(); ++k) {
      const AxisSummary &a = comparison.axes[i], &b = comparison.axes[k];
      if (!fits(a) || !fits(b)) continue;
      const size_t n = grid_of(comparison, a.axis, b.axis).size();
      if (n <= most || n < a.values.size() + b.values.size() - 1 ||
          2 * n < a.values.size() * b.values.size())
        continue;
      most = n;
      best = {&a, &b};
    }
  }
  return best;
}

const char* heat(const Both& both) {
  if (both.bits.matches == both.bits.trials && both.bits.trials > 0) return "h-same";
  if (both.tokens.matches == both.tokens.trials) return "h-drift";
  return 2 * both.tokens.matches >= both.tokens.trials ? "h-some" : "h-most";
}

std::string grid_row(const Grid& grid, const AxisValueSummary& down, const AxisSummary& across) {
  std::string out = "<tr><th scope=\"row\">" + html_code(down.value, 40) + "</th>";
  for (const AxisValueSummary& value : across.values) {
    const auto at = grid.find({down.value, value.value});
    out += at == grid.end()
               ? "<td class=\"h-none\">-</td>"
               : fmt::format("<td class=\"{}\"><b>{}</b><br><small>{} bits</small></td>",
                             heat(at->second), rate_text(at->second.tokens),
                             rate_text(at->second.bits));
  }
  return out + "</tr>";
}

std::string table_by_two(const RunComparison& comparison) {
  const auto [down, across] = widest(comparison);
  if (down == nullptr) return {};
  const Grid grid = grid_of(comparison, down->axis, across->axis);
  const std::string name = down->axis + " by " + across->axis;
  std::string out = fmt::format(
      "<h3 class=\"sub\">{} (rows) by {} (columns)</h3><div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" aria-label=\"{}\"><table class=\"heat\" aria-label=\"{}\"><thead><tr>"
      "<th scope=\"col\">value</th>",
      html_code(down->axis, 80), html_code(across->axis, 80), html_text(name, kNameCharacters),
      html_text(name, kNameCharacters));
  for (const AxisValueSummary& value : across->values)
    out += "<th scope=\"col\">" + html_code(value.value, 40) + "</th>";
  out += "</tr></thead><tbody>";
  for (const AxisValueSummary& value : down->values) out += grid_row(grid, value, *across);
  return out + "</tbody></table></div>" +
         html_key({{KeyMark::kSquare, "m-same", "all bits the same"},
                   {KeyMark::kSquare, "m-heat-drift", "all tokens the same"},
                   {KeyMark::kSquare, "m-heat-flip", "other tokens"}});
}

}  // namespace

std::string axes_section(const RunComparison& comparison) {
  const std::string by_value = table_by_value(comparison);
  if (by_value.empty()) return {};
  return html_section("axes", "Agreement by axis",
                      std::string("Prompts whose answers have the same tokens as those of ") +
                          other_side(comparison) +
                          ", over all cells with that value, with the 95 % Wilson interval.",
                      by_value + table_by_two(comparison));
}

}  // namespace isobit

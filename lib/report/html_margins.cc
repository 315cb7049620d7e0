// How narrow choices were, where tokens flipped, and the law that was fitted to it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html_blocks.h"
#include "report/html_plots.h"
#include "report/html_text.h"
#include "report/report_phrases.h"
#include "report/svg_plot.h"

namespace isobit {
namespace {

// A comparison without rows still has the margins of its flips.
std::vector<RowBin> margin_bins(const RunComparison& comparison) {
  if (comparison.row_histograms) return comparison.row_histograms->by_margin;
  std::vector<RowObservation> flips;
  for (const CellComparison& cell : comparison.cells) {
    for (const float margin : cell.flip_margins)
      flips.push_back({.margin = margin, .gap_drift = 0, .flipped = true});
  }
  return row_histograms(flips, {}).by_margin;
}

PlotAxis axis_over(const std::vector<RowBin>& bins, std::string label) {
  return {.label = std::move(label),
          .low = bins.front().low,
          .high = bins.back().high,
          .scale = Scale::kLog10};
}

std::string range_text(const RowBin& bin) {
  return short_number(bin.low) + " to " + short_number(bin.high);
}

std::vector<std::pair<double, double>> law_line(const FlipLaw& law, const PlotAxis& ratio) {
  std::vector<std::pair<double, double>> out;
  constexpr int kSteps = 60;
  for (int i = 0; i <= kSteps; ++i) {
    const double at = ratio.low * std::pow(ratio.high / ratio.low, double(i) / kSteps);
    out.emplace_back(at, law.chance(at, 1));
  }
  return out;
}

}  // namespace

std::string margins_figure(const RunComparison& comparison) {
  const std::vector<RowBin> bins = margin_bins(comparison);
  if (bins.empty()) return {};
  int64_t n_rows = 0, n_flips = 0, most = 1;
  for (const RowBin& bin : bins) {
    n_rows += bin.n_rows;
    n_flips += bin.n_flips;
    most = std::max(most, bin.n_rows);
  }
  SvgPlot plot(
      "margins", "Margins of all choices, and of those that flipped",
      "A histogram, both scales logarithmic",
      axis_over(bins, std::string("margin of ") + other_side(comparison) + "'s choice (nats)"),
      {.label = "choices",
       .low = 0.5,
       .high = std::pow(10.0, std::ceil(std::log10(double(most) + 1))),
       .scale = Scale::kLog10});
  HtmlTable table{.name = "Choices and flips by margin",
                  .columns = {{"margin (nats)"}, {"choices", true}, {"flips", true}}};
  for (const RowBin& bin : bins) {
    const std::string tip =
        fmt::format("{} nats: {} choices, {} flips", range_text(bin), bin.n_rows, bin.n_flips);
    plot.bar(bin.low, bin.high, 0.5, double(bin.n_rows), "m-bar", tip);
    if (bin.n_flips > 0) plot.bar(bin.low, bin.high, 0.5, double(bin.n_flips), "m-flip", tip);
    table.rows_html.push_back(
        {range_text(bin), std::to_string(bin.n_rows), std::to_string(bin.n_flips)});
  }
  return html_figure(
      "How close the choices were",
      fmt::format("{} compared choices, {} of which flipped. A drift can only overturn a narrow "
                  "one",
                  n_rows, n_flips),
      plot.svg() + html_key({{KeyMark::kSquare, "m-bar", "all choices"},
                             {KeyMark::kSquare, "m-flip", "flipped"}}),
      html_table(table));
}

std::string flip_law_figure(const RunComparison& comparison) {
  if (!comparison.flip_law || !comparison.flip_law->law || !comparison.row_histograms) return {};
  const FlipLaw& law = *comparison.flip_law->law;
  const std::vector<RowBin>& bins = comparison.row_histograms->by_ratio;
  if (bins.empty()) return {};
  const PlotAxis ratio = axis_over(bins, "margin / drift of the row");
  SvgPlot plot("law", "How likely a choice flips, as fitted and as seen",
               "A curve for the fitted law, a dot with its 95 % interval for each group of choices",
               ratio, {.label = "flipped", .low = 0, .high = 1, .is_percent = true});
  plot.line(law_line(law, ratio), "flip");
  HtmlTable table{
      .name = "Flips by margin over drift",
      .columns = {
          {"margin / drift"}, {"choices", true}, {"flips", true}, {"flips by the law", true}}};
  for (const RowBin& bin : bins) {
    if (bin.n_rows == 0) continue;
    const Proportion seen = proportion(bin.n_flips, bin.n_rows);
    const double middle = std::sqrt(bin.low * bin.high);
    plot.whisker(middle, seen.wilson95.low, seen.wilson95.high, "");
    plot.dot(middle, double(bin.n_flips) / double(bin.n_rows), "m-dot",
             fmt::format("{}: {} of {} flipped", range_text(bin), bin.n_flips, bin.n_rows));
    table.rows_html.push_back({range_text(bin), std::to_string(bin.n_rows),
                               std::to_string(bin.n_flips),
                               fmt::format("{:.1f}", bin.expected_flips)});
  }
  return html_figure(
      "The flip law",
      fmt::format("Chance that a choice flips, fitted to {} choices that drifted; it falls to 1 % "
                  "at a margin of {} times the drift ({} to {})",
                  comparison.flip_law->n_rows, short_number(law.ratio_1_percent.value),
                  short_number(law.ratio_1_percent.interval95.low),
                  short_number(law.ratio_1_percent.interval95.high)),
      plot.svg() + html_key({{KeyMark::kLine, "flip", "the fitted law"},
                             {KeyMark::kDot, "m-dot", "seen, with its 95 % interval"}}),
      html_table(table));
}

}  // namespace isobit

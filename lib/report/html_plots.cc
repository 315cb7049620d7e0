#include "report/html_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/html_text.h"
#include "report/report_phrases.h"
#include "report/svg_plot.h"

namespace isobit {
namespace {

constexpr size_t kRasterRows = 60;
constexpr size_t kSurvivalCurves = 6;
constexpr size_t kDots = 3000;
constexpr size_t kListedNames = 24;

std::string figure(std::string_view title, std::string_view caption, std::string_view content,
                   std::string_view data = {}) {
  std::string out = fmt::format("<figure><figcaption><h3>{}</h3><p>{}</p></figcaption>{}",
                                html_text(title), html_text(caption), content);
  if (!data.empty())
    out += fmt::format("<details><summary>The figures</summary>{}</details>", data);
  return out + "</figure>\n";
}

// Head and rows are HTML already.
std::string data_table(std::string_view caption, const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string out =
      fmt::format("<table class=\"stack\"><caption>{}</caption><thead><tr>", html_text(caption));
  for (const std::string& h : head) out += "<th scope=\"col\">" + h + "</th>";
  out += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      out += i == 0 ? "<th scope=\"row\">" + row[i] + "</th>"
                    : fmt::format("<td data-label=\"{}\">{}</td>", head[i], row[i]);
    }
    out += "</tr>";
  }
  return out + "</tbody></table>";
}

// ---- cells by prompts

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
void add_row(std::map<Square, std::string>& paths, const std::vector<Square>& row, double x0,
             double width, double y, double height) {
  for (size_t i = 0; i < row.size();) {
    size_t end = i;
    while (end < row.size() && row[end] == row[i]) ++end;
    if (row[i] != Square::kAbsent) {
      paths[row[i]] += fmt::format(
          "M{:.2f} {:.1f}h{:.2f}v{:.1f}h-{:.2f}z", x0 + static_cast<double>(i) * width, y,
          static_cast<double>(end - i) * width, height, static_cast<double>(end - i) * width);
    }
    i = end;
  }
}

std::string raster_key() {
  std::string out = "<ul class=\"key\">";
  for (const auto& [square, words] : {std::pair{Square::kSame, "same"},
                                      {Square::kDrift, "other bits, same tokens"},
                                      {Square::kFlip, "other tokens"},
                                      {Square::kGap, "not comparable"}}) {
    out += fmt::format(
        "<li><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect class=\"{}\" x=\"1\" y=\"1\" "
        "width=\"12\" height=\"12\"/></svg>{}</li>",
        kSquareClass[static_cast<int>(square)], words);
  }
  return out + "</ul>";
}

std::vector<const CellComparison*> compared_cells(const RunComparison& comparison) {
  std::vector<const CellComparison*> out;
  for (const CellComparison& cell : comparison.cells) {
    if (!cell.pairs.empty()) out.push_back(&cell);
  }
  return out;
}

std::string name_list(const std::vector<const CellComparison*>& cells) {
  std::string out = "<ol>";
  for (size_t i = 0; i < std::min(cells.size(), kListedNames); ++i)
    out += "<li>" + html_code(cells[i]->name, 200) + "</li>";
  out += "</ol>";
  if (cells.size() > kListedNames)
    out += fmt::format("<p>{} more, in the order of the table of cells.</p>",
                       cells.size() - kListedNames);
  return out;
}

// ---- scales

PlotAxis positions_axis(int32_t longest) {
  return {.label = "output position (tokens)", .low = 0, .high = std::max(1.0, double(longest))};
}

int32_t longest_answer(const RunComparison& comparison) {
  int32_t longest = 1;
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs)
      longest =
          std::max({longest, pair.divergence.reference_length, pair.divergence.candidate_length});
  }
  return longest;
}

// Of positive values, to whole powers of ten.
PlotAxis log_axis(std::string label, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double first = std::floor(std::log10(*low)), last = std::ceil(std::log10(*high));
  return {.label = std::move(label),
          .low = std::pow(10.0, first),
          .high = std::pow(10.0, last > first ? last : first + 1),
          .scale = Scale::kLog10};
}

PlotAxis share_axis(std::string label) {
  return {.label = std::move(label), .low = 0, .high = 1, .is_percent = true};
}

std::vector<double> positive_drifts(const RunComparison& comparison) {
  std::vector<double> out;
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs) {
      const auto& drift = pair.divergence.max_drift;
      if (drift && drift->nats > 0) out.push_back(drift->nats);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<double> flip_margins(const RunComparison& comparison) {
  std::vector<double> out;
  for (const CellComparison& cell : comparison.cells) {
    for (const float margin : cell.flip_margins) out.push_back(margin);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string interval_bar(const Proportion& match) {
  const auto at = [](double share) { return 4 + share * 112; };
  return fmt::format(
      "<svg viewBox=\"0 0 120 14\" aria-hidden=\"true\"><path class=\"grid\" d=\"M4 7H116\"/>"
      "<path class=\"line\" d=\"M{:.1f} 7H{:.1f}\"/><circle class=\"m-dot\" cx=\"{:.1f}\" cy=\"7\" "
      "r=\"4\"/></svg>",
      at(match.wilson95.low), at(match.wilson95.high),
      at(match.trials == 0 ? 0 : double(match.matches) / double(match.trials)));
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
  const double row_height = std::clamp(240.0 / static_cast<double>(n_rows), 6.0, 22.0);
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
  return figure("Every answer", caption, svg + "</svg>" + raster_key(),
                name_list({cells.begin(), cells.begin() + static_cast<ptrdiff_t>(n_rows)}));
}

std::string survival_figure(const RunComparison& comparison) {
  std::vector<const CellComparison*> cells = compared_cells(comparison);
  std::erase_if(cells, [](const CellComparison* c) { return c->survival.empty(); });
  if (cells.empty()) return {};
  std::stable_sort(cells.begin(), cells.end(), [](const auto* a, const auto* b) {
    return a->survival.back().share_same < b->survival.back().share_same;
  });
  if (cells.size() > kSurvivalCurves) cells.resize(kSurvivalCurves);
  const int32_t longest = longest_answer(comparison);
  SvgPlot plot("survival", "Answers that are still the same, by position",
               "One curve per cell; the figures are in the table below", positions_axis(longest),
               share_axis("still the same"));
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::vector<std::pair<double, double>> points = {{0, 1}};
    std::vector<SvgPlot::BandPoint> band;
    for (const SurvivalPoint& p : cells[i]->survival) {
      points.emplace_back(p.position, p.share_same);
      band.push_back({double(p.position), p.interval95.low, p.interval95.high});
    }
    points.emplace_back(longest, cells[i]->survival.back().share_same);
    if (cells.size() == 1) plot.band(band, "");
    plot.steps(points, fmt::format("s{}", i));
    plot.legend(fmt::format("{}", i + 1), fmt::format("s{}", i));
    const SurvivalPoint& last = cells[i]->survival.back();
    rows.push_back(
        {fmt::format("{}", i + 1), html_code(cells[i]->name, 120),
         std::to_string(cells[i]->survival.front().position),
         fmt::format("{} ({})", percent(last.share_same), interval_text(last.interval95))});
  }
  return figure("How long answers stay the same",
                "Share of answers without another token so far (Kaplan-Meier); the cells that "
                "part most",
                plot.svg(),
                data_table("Curves", {"curve", "cell", "first split at", "same at the end"}, rows));
}

std::string margins_figure(const RunComparison& comparison) {
  std::vector<double> margins = flip_margins(comparison);
  std::vector<double> positive;
  for (const double m : margins) {
    if (m > 0) positive.push_back(m);
  }
  if (positive.empty()) return {};
  const PlotAxis x = log_axis("margin of the reference's choice (nats)", positive);
  const int n_bins = 4 * std::max(1, int(std::lround(std::log10(x.high / x.low))));
  std::vector<int64_t> counts(static_cast<size_t>(n_bins));
  for (const double m : positive) {
    const double share = std::log10(m / x.low) / std::log10(x.high / x.low);
    ++counts[static_cast<size_t>(std::clamp(int(share * n_bins), 0, n_bins - 1))];
  }
  const auto most = double(*std::max_element(counts.begin(), counts.end()));
  SvgPlot plot("margins", "Margins at which tokens flipped", "A histogram on a logarithmic scale",
               x, {.label = "flips", .low = 0, .high = most});
  for (int i = 0; i < n_bins; ++i) {
    const auto edge = [&](int k) { return x.low * std::pow(x.high / x.low, double(k) / n_bins); };
    plot.bar(edge(i), edge(i + 1), 0, double(counts[static_cast<size_t>(i)]), "m-bar",
             fmt::format("{} to {} nats: {} flips", short_number(edge(i)),
                         short_number(edge(i + 1)), counts[static_cast<size_t>(i)]));
  }
  return figure("How close the choice was where a token flipped",
                fmt::format("{} flips with a known margin; half of them at {} nats or less",
                            margins.size(), short_number(margins[margins.size() / 2])),
                plot.svg());
}

std::string axes_figure(const RunComparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  for (const AxisSummary& axis : comparison.axes) {
    for (const AxisValueSummary& value : axis.values) {
      if (axis.values.size() < 2 || value.n_cells == 0) continue;
      rows.push_back({html_code(axis.axis + "=" + value.value, 80), rate_text(value.token_match),
                      interval_bar(value.token_match), interval_text(value.token_match.wilson95),
                      rate_text(value.bit_match)});
    }
  }
  if (rows.empty()) return {};
  std::string out =
      "<section aria-labelledby=\"axes\"><h2 id=\"axes\">Agreement by axis</h2>"
      "<p class=\"hint\">Prompts whose answers have the same tokens as the "
      "reference, over all cells with that value, with the 95 % Wilson interval.</p>";
  return out +
         data_table("", {"value", "same tokens", "0 to 100 %", "95 % interval", "same bits"},
                    rows) +
         "</section>\n";
}

std::string drift_figure(const RunComparison& comparison) {
  const std::vector<double> drifts = positive_drifts(comparison);
  if (drifts.empty()) return {};
  SvgPlot plot("drift", "Largest drift of each answer", "Share of answers whose drift is at most x",
               log_axis("largest drift of a logprob (nats)", drifts), share_axis("answers"));
  std::vector<std::pair<double, double>> points;
  const size_t stride = std::max<size_t>(1, drifts.size() / 200);
  for (size_t i = 0; i < drifts.size(); i += stride)
    points.emplace_back(drifts[i], double(i + 1) / double(drifts.size()));
  points.emplace_back(drifts.back(), 1.0);
  plot.steps(points, "drift");
  const int64_t n = comparison.totals.n_pairs;
  return figure("How far logprobs drift",
                fmt::format("Of the {} answers of {} whose logprobs moved: half by {} nats or "
                            "less, all by at most {}",
                            drifts.size(), n, short_number(drifts[drifts.size() / 2]),
                            short_number(drifts.back())),
                plot.svg());
}

std::string positions_figure(const RunComparison& comparison) {
  const std::vector<const CellComparison*> cells = compared_cells(comparison);
  std::set<int32_t> prompts;
  for (const CellComparison* cell : cells) {
    for (const PairComparison& pair : cell->pairs) prompts.insert(pair.prompt_index);
  }
  SvgPlot plot("positions", "Where answers part", "First other bits and first other token",
               positions_axis(longest_answer(comparison)),
               {.label = "prompt", .low = 0, .high = std::max(1.0, double(prompts.size()) - 1)});
  size_t n_dots = 0, n_left_out = 0;
  for (const CellComparison* cell : cells) {
    for (const PairComparison& pair : cell->pairs) {
      const auto row = double(std::distance(prompts.begin(), prompts.find(pair.prompt_index)));
      const Divergence& d = pair.divergence;
      if (!d.token && !d.numeric) continue;
      if (n_dots == kDots) {
        ++n_left_out;
        continue;
      }
      ++n_dots;
      const int32_t position = d.token ? d.token->position : d.numeric->position;
      plot.dot(position, row, d.token ? "m-dot flip" : "m-dot drift",
               fmt::format("{}, token {}: {}", pair.request_id, position,
                           d.token ? "another token" : "other bits"));
    }
  }
  if (n_dots == 0) return {};
  plot.legend("other token", "flip");
  plot.legend("other bits", "drift");
  std::string caption = "One dot per answer: its first other token, or its first other bits";
  if (n_left_out > 0) caption += fmt::format("; {} more are not drawn", n_left_out);
  return figure("Where answers part", caption, plot.svg());
}

std::string price_figure(const RunComparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  double fastest = 0;
  for (const CellComparison* cell : compared_cells(comparison))
    fastest = std::max(fastest, cell->price.tokens_per_s.value_or(0));
  if (fastest <= 0) return {};
  SvgPlot plot("price", "Speed and agreement of each cell", "One dot per cell",
               {.label = "tokens per second", .low = 0, .high = fastest},
               share_axis("prompts with the same tokens"));
  for (const CellComparison* cell : compared_cells(comparison)) {
    if (!cell->price.tokens_per_s || cell->token_match.trials == 0) continue;
    const double share = double(cell->token_match.matches) / double(cell->token_match.trials);
    plot.dot(*cell->price.tokens_per_s, share, share < 1 ? "m-dot flip" : "m-dot",
             fmt::format("{}: {:.0f} tokens/s, {}", cell->name, *cell->price.tokens_per_s,
                         rate_text(cell->token_match)));
    const auto ms = [](const std::optional<Times>& t, double Times::*which) {
      return t ? fmt::format("{:.0f}", (*t).*which) : std::string("-");
    };
    rows.push_back({html_code(cell->name, 120), fmt::format("{:.0f}", *cell->price.tokens_per_s),
                    ms(cell->price.ttft_ms, &Times::p50), ms(cell->price.latency_ms, &Times::p95),
                    rate_text(cell->token_match)});
  }
  return figure(
      "Cost beside benefit", "Tokens per second against agreement, one dot per cell", plot.svg(),
      data_table("By cell",
                 {"cell", "tokens/s", "TTFT p50 (ms)", "latency p95 (ms)", "same tokens"}, rows));
}

}  // namespace isobit

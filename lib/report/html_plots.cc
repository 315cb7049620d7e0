#include "report/html_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/html_blocks.h"
#include "report/html_text.h"
#include "report/report_phrases.h"
#include "report/svg_plot.h"

namespace isobit {
namespace {

constexpr size_t kSurvivalCurves = 6;
constexpr size_t kDots = 3000;

std::vector<const CellComparison*> compared_cells(const RunComparison& comparison) {
  std::vector<const CellComparison*> out;
  for (const CellComparison& cell : comparison.cells) {
    if (!cell.pairs.empty()) out.push_back(&cell);
  }
  return out;
}

PlotAxis positions_axis(int32_t longest) {
  return {.label = "output position (tokens)",
          .low = 0,
          .high = std::max(1.0, double(longest)),
          .is_whole = true};
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

double share(const Proportion& match) {
  return match.trials == 0 ? 0 : double(match.matches) / double(match.trials);
}

}  // namespace

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
               share_axis("still the same", cells[0]->survival.back().interval95.low));
  HtmlTable table{.name = "Answers still the same, by cell",
                  .columns = {{"cell"}, {"first split at", true}, {"same at the end", true}}};
  std::vector<KeyEntry> key;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::vector<std::pair<double, double>> points = {{0, 1}};
    std::vector<SvgPlot::BandPoint> band = {{0, 1, 1}};
    for (const SurvivalPoint& p : cells[i]->survival) {
      points.emplace_back(p.position, p.share_same);
      band.push_back({double(p.position), band.back().low, band.back().high});
      band.push_back({double(p.position), p.interval95.low, p.interval95.high});
    }
    const SurvivalPoint& last = cells[i]->survival.back();
    points.emplace_back(longest, last.share_same);
    band.push_back({double(longest), last.interval95.low, last.interval95.high});
    if (i == 0) plot.band(band, "");
    plot.steps(points, fmt::format("s{}", i));
    key.push_back({KeyMark::kLine, fmt::format("s{}", i), cells[i]->name});
    table.rows_html.push_back(
        {html_name(cells[i]->name), std::to_string(cells[i]->survival.front().position),
         fmt::format("{} ({})", percent(last.share_same), interval_text(last.interval95))});
  }
  return html_figure("How long answers stay the same",
                     "Share of answers without another token so far (Kaplan-Meier), of the cells "
                     "that part most; shaded: the first one's 95 % interval",
                     plot.svg() + html_key(key), html_table(table));
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
  return html_figure("How far logprobs drift",
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
  SvgPlot plot(
      "positions", "Where answers part",
      "A raster of prompts by output position: the first other token, or else the first other bits",
      positions_axis(longest_answer(comparison)),
      {.label = "prompt, in the order of the run",
       .low = 0,
       .high = std::max(1.0, double(prompts.size()) - 1),
       .is_whole = true});
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
  std::string caption = "One dot per answer: its first other token, or its first other bits";
  if (n_left_out > 0) caption += fmt::format("; {} more are not drawn", n_left_out);
  return html_figure("Where answers part", caption,
                     plot.svg() + html_key({{KeyMark::kDot, "m-dot flip", "another token"},
                                            {KeyMark::kDot, "m-dot drift", "other bits"}}));
}

std::string price_figure(const RunComparison& comparison) {
  double fastest = 0, least = 1;
  for (const CellComparison* cell : compared_cells(comparison)) {
    fastest = std::max(fastest, cell->price.tokens_per_s.value_or(0));
    if (cell->token_match.trials > 0) least = std::min(least, share(cell->token_match));
  }
  if (fastest <= 0) return {};
  HtmlTable table{.name = "Speed and agreement, by cell",
                  .columns = {{"cell"},
                              {"tokens/s", true},
                              {std::string("of ") + other_side(comparison) + "'s", true},
                              {"TTFT p50 (ms)", true},
                              {"latency p95 (ms)", true},
                              {"same tokens", true}},
                  .n_open = 40,
                  .what = "cells"};
  SvgPlot plot("price", "Speed and agreement of each cell", "One dot per cell",
               {.label = "tokens per second", .low = 0, .high = fastest},
               share_axis("prompts with the same tokens", least - 0.01));
  const auto ms = [](const std::optional<Times>& t, double Times::*which) {
    return t ? quantity_text((*t).*which) : std::string("-");
  };
  for (const CellComparison* cell : compared_cells(comparison)) {
    if (!cell->price.tokens_per_s || cell->token_match.trials == 0) continue;
    plot.dot(*cell->price.tokens_per_s, share(cell->token_match),
             cell->token_match.matches < cell->token_match.trials ? "m-dot flip" : "m-dot",
             fmt::format("{}: {} tokens/s, {}", cell->name,
                         quantity_text(*cell->price.tokens_per_s), rate_text(cell->token_match)));
    const auto& ratio = cell->price_ratio.tokens_per_s;
    table.rows_html.push_back(
        {html_name(cell->name), quantity_text(*cell->price.tokens_per_s),
         ratio ? fmt::format("{:.0f} %", 100 * *ratio) : "-", ms(cell->price.ttft_ms, &Times::p50),
         ms(cell->price.latency_ms, &Times::p95), rate_text(cell->token_match)});
  }
  return html_figure("Cost beside benefit",
                     "Speed against agreement, one dot per cell: the upper right is where one "
                     "wants to be",
                     plot.svg() + html_key({{KeyMark::kDot, "m-dot", "all prompts the same"},
                                            {KeyMark::kDot, "m-dot flip", "some are not"}}),
                     html_table(table));
}

std::string trend_figure(const std::vector<TrendPoint>& trend) {
  if (trend.size() < 2) return {};
  double least = 1;
  for (const TrendPoint& p : trend) least = std::min(least, p.bit_match.wilson95.low);
  SvgPlot plot("trend", "Agreement of this run and of earlier ones",
               "Two lines, for tokens and for bits; the table below has the figures",
               {.label = "run, the reported one last",
                .low = 1,
                .high = double(trend.size()),
                .is_whole = true},
               share_axis("prompts that are the same", least));
  HtmlTable table{
      .name = "Agreement by run",
      .columns = {{"run"}, {"started"}, {"label"}, {"same tokens", true}, {"same bits", true}}};
  std::vector<std::pair<double, double>> tokens, bits;
  for (size_t i = 0; i < trend.size(); ++i) {
    const TrendPoint& p = trend[i];
    const auto x = static_cast<double>(i + 1);
    tokens.emplace_back(x, share(p.token_match));
    bits.emplace_back(x, share(p.bit_match));
    plot.whisker(x, p.token_match.wilson95.low, p.token_match.wilson95.high, "");
    table.rows_html.push_back({html_code(p.run_id, 16), html_text(p.created, 40),
                               html_text(p.label, kNameCharacters), rate_text(p.token_match),
                               rate_text(p.bit_match)});
  }
  plot.line(tokens, "");
  plot.line(bits, "drift dash");
  for (size_t i = 0; i < trend.size(); ++i) {
    plot.dot(bits[i].first, bits[i].second, "m-dot drift",
             fmt::format("run {}: same bits {}", i + 1, rate_text(trend[i].bit_match)));
    plot.dot(tokens[i].first, tokens[i].second, "m-dot",
             fmt::format("run {}: same tokens {}", i + 1, rate_text(trend[i].token_match)));
  }
  return html_figure(
      "Trend over runs",
      fmt::format("The last {} runs of this target and these prompts in the store, "
                  "each against its own reference cell; bars: 95 % intervals of tokens",
                  trend.size()),
      plot.svg() + html_key({{KeyMark::kDot, "m-dot", "same tokens"},
                             {KeyMark::kDot, "m-dot drift", "same bits"}}),
      html_table(table));
}

}  // namespace isobit

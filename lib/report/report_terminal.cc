// What `run`, `compare` and `gate` print: tables of 80 columns and the verdict with its reasons.
#include <fmt/format.h>

#include "base/shell_word.h"
#include "compare/sample_name.h"
#include "report/report.h"
#include "report/report_phrases.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

bool is_compared(const RunComparison& comparison, const CellComparison& cell) {
  return comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference ||
         !cell.pairs.empty();
}

std::string margin_words(const std::optional<float>& margin) {
  return margin ? fmt::format("{:.3g}", *margin) : std::string("unknown");
}

constexpr size_t kTokenCharacters = 24;

// "730 ' the'"; the number alone where its text is not known.
std::string token_words(const std::optional<int32_t>& token, const WorstList& list) {
  if (!token) return "the end";
  const auto text = list.token_texts.find(*token);
  if (text == list.token_texts.end()) return fmt::format("{}", *token);
  return fmt::format("{} '{}'", *token, visible_text(text->second, kTokenCharacters));
}

std::string divergence_words(const PairComparison& pair, const WorstList& list) {
  const Divergence& d = pair.divergence;
  if (!d.token) return fmt::format("same tokens; other bits from position {}", d.numeric->position);
  return fmt::format(
      "position {}: token {} became {}; margin {} nat, then {}{}", d.token->position,
      token_words(d.token->reference_token, list), token_words(d.token->candidate_token, list),
      margin_words(d.token->reference_margin), margin_words(d.token->candidate_margin),
      pair.flip ? fmt::format(" ({})", name(*pair.flip)) : std::string());
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
          state_words(comparison, cell)};
}

std::string settings_line(const char* whose, const RunSide& side) {
  if (side.settings.empty()) return {};
  const std::string prefix = fmt::format("{}: ", whose);
  return prefix + wrapped_text(visible_text(settings_text(side), 1000), prefix.size());
}

// What names of cells leave out.
std::string settings_lines(const RunComparison& comparison) {
  const RunSide& base = comparison.base;
  const RunSide& candidate = comparison.candidate;
  if (base.settings == candidate.settings) return settings_line("all cells", candidate);
  return settings_line("all cells of the base", base) +
         settings_line("all cells of the candidate", candidate);
}

}  // namespace

std::string cells_table(const RunComparison& comparison) {
  const std::vector<TableColumn> columns = {{"cell", Align::kLeft},     {"samples", Align::kRight},
                                            {"same", Align::kRight},    {"bits", Align::kRight},
                                            {"drift", Align::kRight},   {"flips", Align::kRight},
                                            {"missing", Align::kRight}, {"state", Align::kLeft}};
  std::vector<std::vector<std::string>> rows;
  for (const CellComparison& cell : comparison.cells) rows.push_back(cell_row(comparison, cell));
  return text_table(columns, rows) + settings_lines(comparison);
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

std::string worst_list(const RunComparison& comparison, const WorstList& list) {
  const std::vector<RankedDivergence> worst = worst_divergences(comparison, list.n);
  if (worst.empty()) return {};
  const std::string& base_ref = list.base_ref.empty() ? comparison.base.id : list.base_ref;
  const std::string base = comparison.kind == ComparisonKind::kBetweenRuns
                               ? " --base " + visible_text(shell_word(base_ref))
                               : "";
  std::string out =
      "\n" + wrapped_text("worst divergences (isobit explain SAMPLE" + base + " says why)");
  for (const RankedDivergence& at : worst) {
    out += "  " + visible_text(sample_name(comparison, *at.cell, *at.pair)) + "\n    " +
           wrapped_text(divergence_words(*at.pair, list), 4);
  }
  return out;
}

}  // namespace isobit

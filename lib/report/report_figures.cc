#include "report/report_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/report_phrases.h"
#include "report/text_table.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kMaxLines = 5;
constexpr size_t kNameCharacters = 60;
constexpr size_t kReasonCharacters = 300;

std::string shown(const std::string& name) {
  return bounded_name(name, kNameCharacters);
}

void note_more(FigureSection& section, size_t total, const char* what) {
  if (total > kMaxLines)
    section.sentences.push_back(fmt::format("and {} more {}", total - kMaxLines, what));
}

std::string range(const Interval& interval, double scale) {
  return fmt::format("{:.2g} to {:.2g}", interval.low * scale, interval.high * scale);
}

FigureSection kinds_section(const RunComparison& comparison) {
  FigureSection section{.title = "why answers differ"};
  if (comparison.kinds.empty()) return section;
  for (const KindCount& count : comparison.kinds) {
    section.sentences.push_back(fmt::format("{}: {} drifted, {} flipped", kinds_text(count.kinds),
                                            count.numeric_divergences, count.token_divergences));
  }
  size_t n_undecided = 0;
  for (const CellComparison& cell : comparison.cells) {
    const bool diverges = cell.counts.numeric_divergences + cell.counts.token_divergences > 0;
    if (!diverges || cell.attribution.decided() || ++n_undecided > kMaxLines) continue;
    section.sentences.push_back(fmt::format(
        "{}: {}", shown(cell.name), bounded_name(cell.attribution.reason, kReasonCharacters)));
  }
  note_more(section, n_undecided, "cells");
  if (comparison.noise.n_pairs == 0) {
    section.sentences.push_back(
        fmt::format("{} was not repeated: differences from run to run are not ruled out",
                    other_side(comparison)));
  }
  return section;
}

FigureSection suspicion_section(const RunComparison& comparison) {
  FigureSection section{.title = "suspicious flips"};
  if (comparison.totals.suspicious_flips == 0) return section;
  section.sentences.push_back(fmt::format("{} at a margin that rounding does not close",
                                          comparison.totals.suspicious_flips));
  size_t n_shared = 0;
  for (const CellComparison& cell : comparison.cells) {
    for (const SharedSuspicion& together : cell.shared_suspicions) {
      if (++n_shared > kMaxLines) continue;
      section.sentences.push_back(fmt::format(
          "{}: {} requests together around position {}, {} among them: possible state corruption",
          shown(cell.name), together.request_ids.size(), together.first_position,
          shown(together.request_ids[0])));
    }
  }
  note_more(section, n_shared, "such groups");
  return section;
}

std::string law_text(const FlipLawResult& result) {
  const FlipLaw& law = *result.law;
  std::string text = fmt::format(
      "at the median drift of {:.2g} nat, 25 % of choices flip at a margin of {:.2g} nat ({}) and "
      "1 % at {:.2g} nat ({}); slope {:.2f} ({}); {} flips in {} prompts, {} rows",
      law.median_drift_nats, law.ratio_25_percent.value * law.median_drift_nats,
      range(law.ratio_25_percent.interval95, law.median_drift_nats),
      law.ratio_1_percent.value * law.median_drift_nats,
      range(law.ratio_1_percent.interval95, law.median_drift_nats), law.slope.value,
      range(law.slope.interval95, 1), result.n_flips, result.n_prompts_with_flips, result.n_rows);
  if (law.fit)
    text += fmt::format(
        "; were this the law, choices would stray from it as far with "
        "probability {:.2g} (goodness of fit)",
        law.fit->p_value);
  return text;
}

FigureSection law_section(const RunComparison& comparison) {
  FigureSection section{.title = "flip law"};
  if (!comparison.flip_law) return section;
  const FlipLawResult& result = *comparison.flip_law;
  const bool diverges =
      comparison.totals.token_divergences + comparison.totals.numeric_divergences > 0;
  if (result.law) {
    section.sentences.push_back(law_text(result));
  } else if (diverges) {
    section.sentences.push_back("none: " + result.refusal);
  }
  return section;
}

std::string fragile_text(const std::vector<const PromptMargin*>& fragile) {
  std::string text = fmt::format("{} fragile, the narrowest", fragile.size());
  for (size_t i = 0; i < std::min(fragile.size(), kMaxLines); ++i) {
    text += fmt::format("{} {} ({:.2g} nat at position {})", i == 0 ? "" : ",",
                        shown(fragile[i]->request_id), fragile[i]->least_margin_nats,
                        fragile[i]->position);
  }
  return text;
}

std::string where_text(const Certificates& c) {
  return fmt::format(" ({}, {} at position {})", shown(c.cell), shown(c.request_id), c.position);
}

FigureSection certificates_section(const RunComparison& comparison) {
  FigureSection section{.title = "certificates"};
  if (!comparison.certificates) return section;
  const Certificates& c = *comparison.certificates;
  if (!c.refusal.empty()) {
    section.sentences.push_back("none: " + c.refusal);
    return section;
  }
  if (*c.two_epsilon_nats == 0) {
    section.sentences.push_back(
        fmt::format("none: no drift was seen in {} rows, so nothing can be said of the prompts "
                    "that one could flip",
                    c.n_rows));
    return section;
  }
  section.sentences.push_back(fmt::format(
      "{} of {} prompts ({}) cannot flip under any drift seen: those whose every margin is above "
      "{:.3g} nat, the largest gap drift of {} rows{}",
      c.certified.matches, c.certified.trials, interval_text(c.certified.wilson95),
      *c.two_epsilon_nats, c.n_rows, where_text(c)));
  const std::vector<const PromptMargin*> fragile = c.fragile();
  if (!fragile.empty()) section.sentences.push_back(fragile_text(fragile));
  return section;
}

FigureSection distinct_section(const RunComparison& comparison) {
  FigureSection section{.title = "distinct outputs"};
  size_t n_cells = 0;
  for (const CellComparison& cell : comparison.cells) {
    if (cell.distinct.empty() || ++n_cells > kMaxLines) continue;
    const DistinctOutputs& most = cell.distinct.front();
    section.sentences.push_back(
        fmt::format("{}: {} gave {} outputs in {} answers (the commonest {} times), first split at "
                    "position {}; "
                    "prompts with more than one: {}",
                    shown(cell.name), shown(most.request_id), most.n_distinct, most.n_answers,
                    most.n_most_common, most.first_split, cell.distinct.size()));
  }
  note_more(section, n_cells, "cells");
  return section;
}

bool any_split(const RunComparison& comparison) {
  return std::ranges::any_of(comparison.cells,
                             [](const CellComparison& cell) { return !cell.survival.empty(); });
}

std::string number_text(std::optional<double> value, const char* format = "{:.3g}") {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string survival_table(const RunComparison& comparison) {
  if (!any_split(comparison)) return {};
  std::vector<std::vector<std::string>> rows;
  for (const CellComparison& cell : comparison.cells) {
    if (cell.survival.empty()) continue;
    const SurvivalPoint& last = cell.survival.back();
    rows.push_back({cell.name, fmt::format("{} after {}", percent(last.share_same), last.position),
                    interval_text(last.interval95), number_text(cell.spread.mean_div_index),
                    number_text(cell.spread.std_length),
                    number_text(cell.spread.std_top1_prob, "{:.1e}")});
  }
  return "\nhow long answers stay the same\n" + text_table({{"cell", Align::kLeft},
                                                            {"still same", Align::kRight},
                                                            {"95 %", Align::kRight},
                                                            {"div index", Align::kRight},
                                                            {"std@len", Align::kRight},
                                                            {"std@top1", Align::kRight}},
                                                           rows);
}

std::string mean_and_min(const std::optional<AgreementSummary>& summary) {
  return summary ? fmt::format("{:.3f} / {:.3f}", summary->mean, summary->min) : "-";
}

std::string agreement_table(const RunComparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  std::string why;
  for (const CellComparison& cell : comparison.cells) {
    if (cell.counts.token_divergences == 0 || !cell.agreement.edit_similarity) continue;
    rows.push_back({cell.name, mean_and_min(cell.agreement.edit_similarity),
                    mean_and_min(cell.agreement.chrf), mean_and_min(cell.agreement.cosine)});
    if (why.empty() && !cell.agreement.chrf_absent.empty())
      why = paragraph("chrF: " + visible_text(cell.agreement.chrf_absent, kReasonCharacters));
  }
  if (rows.empty()) return {};
  return "\nhow much alike answers are (mean / least)\n" +
         text_table({{"cell", Align::kLeft},
                     {"edit", Align::kRight},
                     {"chrF", Align::kRight},
                     {"cosine", Align::kRight}},
                    rows) +
         why;
}

std::string times_text(const std::optional<Times>& times) {
  if (!times) return "-";
  return quantity_text(times->p50) + " / " + quantity_text(times->p95) + " / " +
         quantity_text(times->p99);
}

std::string price_table(const RunComparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  int64_t n_jumps = 0;
  for (const CellComparison& cell : comparison.cells) {
    n_jumps += cell.price.n_clock_jumps;
    if (!cell.price.tokens_per_s && !cell.price.latency_ms) continue;
    rows.push_back(
        {cell.name, cell.price.tokens_per_s ? quantity_text(*cell.price.tokens_per_s) : "-",
         number_text(cell.price_ratio.tokens_per_s, "x {:.2f}"), times_text(cell.price.ttft_ms),
         times_text(cell.price.latency_ms), number_text(cell.price_ratio.latency_p95, "x {:.2f}")});
  }
  std::string out;
  if (!rows.empty()) {
    out = fmt::format("\nprice (ms at p50 / p95 / p99; x: beside {})\n", other_side(comparison)) +
          text_table({{"cell", Align::kLeft},
                      {"tokens/s", Align::kRight},
                      {"x", Align::kRight},
                      {"first token", Align::kRight},
                      {"answer", Align::kRight},
                      {"x p95", Align::kRight}},
                     rows);
  }
  if (n_jumps > 0)
    out += paragraph(fmt::format("clock jumps: the times of {} {} cannot be and are left out",
                                 n_jumps, n_jumps == 1 ? "answer" : "answers"));
  return out;
}

}  // namespace

std::vector<FigureSection> figure_sections(const RunComparison& comparison) {
  std::vector<FigureSection> sections = {kinds_section(comparison), suspicion_section(comparison),
                                         law_section(comparison), certificates_section(comparison),
                                         distinct_section(comparison)};
  std::erase_if(sections, [](const FigureSection& s) { return s.sentences.empty(); });
  return sections;
}

std::string figures_text(const RunComparison& comparison) {
  std::string out;
  for (const FigureSection& section : figure_sections(comparison)) {
    out += "\n" + section.title + "\n";
    for (const std::string& sentence : section.sentences)
      out += paragraph("  " + visible_text(sentence));
  }
  return out + survival_table(comparison) + agreement_table(comparison) + price_table(comparison);
}

std::string paragraph(const std::string& text, size_t max_width) {
  const size_t first_indent = std::min(text.find_first_not_of(' '), text.size());
  const std::string indent(first_indent + 2, ' ');
  std::string out, line = text.substr(0, first_indent);
  bool line_has_words = false;
  for (size_t at = first_indent; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (line_has_words && display_width(line) + 1 + display_width(word) > max_width) {
      out += line + "\n";
      line = indent;
      line_has_words = false;
    }
    line += (line_has_words ? " " : "") + word;
    line_has_words = true;
    at = end == text.size() ? end : end + 1;
  }
  return out + line + "\n";
}

}  // namespace isobit

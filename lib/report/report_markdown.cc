// The Markdown report: for a pull request, so short: the verdict, why, and the worst divergences
// first, the tables folded under them, every list bounded.
#include <fmt/format.h>

#include <algorithm>

#include "compare/bits.h"
#include "gate/metrics.h"
#include "report/report.h"
#include "report/report_figures.h"
#include "report/report_phrases.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

// GitHub refuses comments past 65,536 characters. The bounds below keep honest reports far under
// it; where hostile names swell by escaping, whole sections are left out, the least needed first.
constexpr size_t kMaxBytes = 65536;
constexpr size_t kMaxReasons = 15;
constexpr size_t kMaxCells = 30;
constexpr size_t kMaxRules = 30;
constexpr size_t kMaxAxisValues = 30;
constexpr size_t kMaxGroupChanges = 8;
constexpr size_t kMaxDivergences = 8;
constexpr size_t kMaxFingerprintChanges = 15;
constexpr size_t kNameCharacters = 100;
constexpr size_t kTextCharacters = 60;
constexpr size_t kSentenceCharacters = 1000;

std::string code(std::string_view text, size_t max_characters = kNameCharacters) {
  return markdown_code(text, max_characters);
}

std::string sentence_code(std::string_view sentence, const std::vector<std::string>& names) {
  return code(bounded_sentence(sentence, names), kSentenceCharacters);
}

std::string more(size_t total, size_t shown, const char* what) {
  return total > shown ? fmt::format("\n{} more {} not shown.\n", total - shown, what)
                       : std::string();
}

// GitHub and GitLab show the title, and the body on a click.
std::string folded(const char* title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", title, body);
}

std::string side_line(const char* what, const RunSide& side) {
  std::string line = fmt::format("- {}: run {}, {}", what, code(side.id), code(side.target));
  if (!side.label.empty()) line += ", " + code(side.label);
  if (side.redacted) line += ", redacted";
  if (!side.settings.empty())
    line += ", all cells " + code(settings_text(side), kSentenceCharacters);
  return line + fmt::format(
                    ", fingerprint {}\n",
                    code(side.fingerprint.id.empty() ? "none" : side.fingerprint.id.substr(0, 16)));
}

std::string sides(const RunComparison& comparison) {
  if (comparison.kind == ComparisonKind::kWithinRun) return side_line("run", comparison.candidate);
  return side_line("base", comparison.base) + side_line("candidate", comparison.candidate);
}

std::string reasons(const Verdict& verdict) {
  if (verdict.reasons.empty()) return {};
  std::string out = "\n### Why\n\n";
  for (size_t i = 0; i < std::min(verdict.reasons.size(), kMaxReasons); ++i) {
    const Reason& reason = verdict.reasons[i];
    out += fmt::format("- {}: {}: {}\n", name(reason.outcome), code(reason.subject),
                       sentence_code(reason.text, reason.names));
  }
  return out + more(verdict.reasons.size(), kMaxReasons, "reasons");
}

// What was let through, why and until when: a reviewer sees it beside the verdict.
std::string notes(const Verdict& verdict) {
  if (verdict.notes.empty()) return {};
  std::string out = "\n### Notes\n\n";
  for (size_t i = 0; i < std::min(verdict.notes.size(), kMaxReasons); ++i) {
    const Reason& note = verdict.notes[i];
    out += fmt::format("- {}: {}\n", code(note.subject), sentence_code(note.text, note.names));
  }
  return out + more(verdict.notes.size(), kMaxReasons, "notes");
}

bool has_finding(const CellComparison& cell) {
  return cell.counts.exact_matches < cell.counts.n_pairs ||
         cell.counts.bit_matches < cell.counts.n_pairs || !cell.exercised || !cell.complete;
}

// Cells with findings come first where not all fit; otherwise the matrix's order stays.
std::vector<const CellComparison*> shown_cells(const RunComparison& comparison) {
  std::vector<const CellComparison*> cells;
  for (const CellComparison& cell : comparison.cells) cells.push_back(&cell);
  if (cells.size() > kMaxCells) {
    std::stable_partition(cells.begin(), cells.end(),
                          [](const CellComparison* cell) { return has_finding(*cell); });
    cells.resize(kMaxCells);
  }
  return cells;
}

std::string cell_line(const RunComparison& comparison, const CellComparison& cell) {
  const bool compared =
      comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference || !cell.pairs.empty();
  if (!compared)
    return fmt::format("| {} | {} | - | - | - | - | - | - | - | {} |\n", code(cell.name),
                       cell.n_samples, state_words(comparison, cell));
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", code(cell.name),
                     cell.n_samples, rate_text(cell.token_match), rate_text(cell.bit_match),
                     cell.counts.numeric_divergences, cell.counts.token_divergences,
                     first_position(cell.token_positions), drift_text(cell.max_drift),
                     cell.counts.missing + cell.counts.errors, state_words(comparison, cell));
}

std::string cells(const RunComparison& comparison) {
  if (comparison.cells.empty()) return {};
  std::string out =
      "| cell | samples | prompts with the same tokens | with the same bits | drifted answers | "
      "flipped answers | first flip at | "
      "largest drift | missing | state |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n";
  for (const CellComparison* cell : shown_cells(comparison)) out += cell_line(comparison, *cell);
  return out + more(comparison.cells.size(), kMaxCells, "cells");
}

std::string axes(const RunComparison& comparison) {
  std::string rows;
  size_t n_rows = 0;
  for (const AxisSummary& axis : comparison.axes) {
    for (const AxisValueSummary& value : axis.values) {
      if (axis.values.size() < 2 || value.n_cells == 0 || ++n_rows > kMaxAxisValues) continue;
      rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", code(axis.axis),
                          code(value.value), value.n_cells, rate_text(value.token_match),
                          interval_text(value.token_match.wilson95),
                          value.counts.numeric_divergences, value.counts.token_divergences);
    }
  }
  if (rows.empty()) return {};
  return "| axis | value | cells | same tokens | 95 % | drifted | flipped "
         "|\n|---|---|--:|--:|--:|--:|--:|\n" +
         rows + more(n_rows, kMaxAxisValues, "values");
}

std::string group_changes(const RunComparison& comparison) {
  if (comparison.group_changes.empty()) return {};
  std::string out;
  for (size_t i = 0; i < std::min(comparison.group_changes.size(), kMaxGroupChanges); ++i) {
    const GroupChange& change = comparison.group_changes[i];
    std::string by;
    for (size_t c = 0; c < std::min<size_t>(change.changed.size(), 4); ++c) {
      const ValueChange& v = change.changed[c];
      by += (by.empty() ? "" : ", ") + code(v.axis) + " from " + code(v.from, kTextCharacters) +
            " to " + code(v.to, kTextCharacters);
    }
    out += fmt::format(
        "- changed by {}: {} of {} answers have other tokens, {} the same bits, {} could not be "
        "compared\n",
        by, change.n_other_tokens, change.n_pairs, change.n_same_bits, change.n_not_compared);
  }
  return out + more(comparison.group_changes.size(), kMaxGroupChanges, "changes");
}

std::string figures(const RunComparison& comparison) {
  std::string out;
  for (const FigureSection& section : figure_sections(comparison)) {
    for (const std::string& sentence : section.sentences)
      out += fmt::format("- {}: {}\n", section.title, code(sentence, kSentenceCharacters));
  }
  return out;
}

std::string token_words(const ReportInput& input, std::optional<int32_t> token_id) {
  if (!token_id) return "nothing (it had ended)";
  const auto text = input.token_texts.find(*token_id);
  return fmt::format("{}", *token_id) +
         (text == input.token_texts.end() ? "" : " " + code(text->second, kTextCharacters));
}

std::string flip_words(const ReportInput& input, const PairComparison& pair) {
  const TokenDivergence& t = *pair.divergence.token;
  const auto margin = [](const std::optional<float>& m) {
    return nats_text(m ? std::optional<double>(*m) : std::nullopt);
  };
  std::string words =
      fmt::format("token at position {}: {} became {}; margins {} and {} nat", t.position,
                  token_words(input, t.reference_token), token_words(input, t.candidate_token),
                  margin(t.reference_margin), margin(t.candidate_margin));
  if (pair.flip) words += fmt::format("; **{}**", name(*pair.flip));
  return words;
}

std::string drift_words(const NumericDivergence& n) {
  std::string words = fmt::format("bits from position {}", n.position);
  if (!n.reference_logprob || !n.candidate_logprob) return words;
  words += fmt::format(": logprob {} and {}", bits_text(*n.reference_logprob),
                       bits_text(*n.candidate_logprob));
  if (n.ulp) words += fmt::format(", {} ulp", *n.ulp);
  return n.nats ? words + fmt::format(", {:.2g} nat", *n.nats) : words;
}

std::string divergence_line(const ReportInput& input, const RankedDivergence& ranked) {
  const PairComparison& pair = *ranked.pair;
  std::string line = fmt::format("- {}, request {}", code(ranked.cell->name),
                                 code(pair.request_id, kTextCharacters));
  if (pair.sample_index > 0) line += fmt::format(", choice {}", pair.sample_index);
  if (pair.repeat > 0) line += fmt::format(", repeat {}", pair.repeat);
  if (pair.divergence.token) line += "; " + flip_words(input, pair);
  if (pair.divergence.numeric) line += "; " + drift_words(*pair.divergence.numeric);
  const auto prompt = static_cast<size_t>(pair.prompt_index);
  if (prompt < input.prompt_texts.size())
    line += "; prompt " + code(input.prompt_texts[prompt], kTextCharacters);
  return line + "\n";
}

std::string divergences(const ReportInput& input) {
  const auto worst = worst_divergences(input.comparison, kMaxDivergences);
  if (worst.empty()) return {};
  std::string out = "\n### Worst divergences\n\n";
  for (const RankedDivergence& ranked : worst) out += divergence_line(input, ranked);
  return out;
}

std::string fingerprint_section(const RunComparison& comparison) {
  if (comparison.kind == ComparisonKind::kWithinRun) return {};
  if (comparison.fingerprint_changes.empty()) return "Nothing.\n";
  std::string out =
      "| class | item | base | candidate "
      "|\n|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(comparison.fingerprint_changes.size(), kMaxFingerprintChanges);
       ++i) {
    const FingerprintChange& c = comparison.fingerprint_changes[i];
    out += fmt::format("| {} | {} | {} | {} |\n", name(c.item_class), code(c.name, kTextCharacters),
                       c.base ? code(*c.base, kTextCharacters) : "unknown",
                       c.candidate ? code(*c.candidate, kTextCharacters) : "unknown");
  }
  return out + more(comparison.fingerprint_changes.size(), kMaxFingerprintChanges, "items");
}

constexpr const char* kHowToRead =
    "*Same* means the same bits. An answer *drifted* when some position's logits or logprobs "
    "differ in bits, and *flipped* when a "
    "token differs. The margin is the top-1 minus the top-2 logit: a flip at a small margin is "
    "rounding that tipped a near tie, "
    "one at a large margin is *suspicious*. What follows a flip is another text: it is "
    "compared only where it was computed once more over the other side's tokens. Missing evidence "
    "never "
    "counts as the same.\n";

std::string rule_line(const RuleResult& result) {
  const Metric* metric = find_metric(result.rule.metric);
  const RuleUnit* unit = result.deciding();
  std::string shown = "nothing to compare", where = "-";
  if (unit != nullptr && metric != nullptr) {
    const Figure& figure = unit->figure;
    where = code(unit->unit);
    const bool known = figure.state == FigureState::kKnown;
    shown = sentence_code((known ? "" : "not known: ") + figure_words(*metric, figure),
                          names_in(*unit));
  }
  const std::string id =
      bounded_name(result.rule.id, kNameCharacters) +
      (result.tier.empty() ? "" : ", tier " + bounded_name(result.tier, kNameCharacters));
  return fmt::format("| {} | {} | {} {} | {} | {} |\n",
                     result.let_through.empty() ? name(result.outcome) : "let through",
                     code(id, kSentenceCharacters), result.rule.metric, limit_text(result.rule),
                     where, shown);
}

std::string rules(const Verdict& verdict) {
  if (verdict.rules.empty()) return {};
  std::string out = "| verdict | rule | asks for | decided by | seen |\n|---|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(verdict.rules.size(), kMaxRules); ++i)
    out += rule_line(verdict.rules[i]);
  return out + more(verdict.rules.size(), kMaxRules, "rules");
}

struct Section {
  std::string text;
  int keep = 0;  // the lower, the sooner it is left out
};

std::string joined(std::vector<Section>& sections) {
  constexpr size_t kNoteBytes = 100;
  size_t total = kNoteBytes;
  for (const Section& section : sections) total += section.text.size();
  bool left_out = false;
  while (total > kMaxBytes) {
    auto least =
        std::min_element(sections.begin(), sections.end(),
                         [](const Section& a, const Section& b) { return a.keep < b.keep; });
    total -= least->text.size();
    sections.erase(least);
    left_out = true;
  }
  std::string out;
  for (const Section& section : sections) out += section.text;
  return left_out ? out +
                        "\nSections that would not fit a comment were left out; the JSON report "
                        "has them.\n"
                  : out;
}

}  // namespace

std::string markdown_report(const ReportInput& input) {
  const RunComparison& comparison = input.comparison;
  const std::string sentence =
      bounded_sentence(input.verdict.sentence, {input.verdict.policy.name});
  const std::string next =
      input.next_command.empty() ? "" : "\nNext: " + code(input.next_command, 300) + "\n";
  std::vector<Section> sections = {
      {fmt::format("**{}**\n", markdown_prose(sentence)), 9},
      {reasons(input.verdict), 6},
      {notes(input.verdict), 6},
      {divergences(input), 4},
      {"\n" + sides(comparison), 8},
      {folded("Cells", cells(comparison)), 5},
      {folded("Rules", rules(input.verdict)), 3},
      {folded("By axis", axes(comparison)), 1},
      {folded("Changed by identity axes: expected, not judged", group_changes(comparison)), 2},
      {folded("Figures", figures(comparison)), 2},
      {folded("What changed in the fingerprint", fingerprint_section(comparison)), 3},
      {folded("How to read this", kHowToRead), 7},
      {next, 7}};
  return joined(sections);
}

}  // namespace isobit

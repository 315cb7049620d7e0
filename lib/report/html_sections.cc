#include "report/html_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html_blocks.h"
#include "report/html_text.h"
#include "report/report_phrases.h"

namespace isobit {
namespace {

constexpr size_t kMaxReasons = 200;
constexpr size_t kOpenReasons = 10;
constexpr size_t kMaxCells = 400;
constexpr size_t kOpenCells = 24;
constexpr size_t kMaxChanges = 60;
constexpr size_t kOpenChanges = 20;

// A shape of its own for each tone, so that colour is never alone.
const char* mark(Outcome outcome) {
  const std::string_view of = tone(outcome);
  if (of == "pass")
    return "<path d=\"M2 9l4 4 8-10\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.5\"/>";
  if (of == "fail")
    return "<path d=\"M3 3l10 10M13 3L3 13\" fill=\"none\" stroke=\"currentColor\" "
           "stroke-width=\"2.5\"/>";
  return "<path d=\"M8 2v8M8 12.5v1.5\" fill=\"none\" stroke=\"currentColor\" "
         "stroke-width=\"2.5\"/>";
}

std::string upper_first(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// "FAIL at level 2: what it means; what was counted" in its parts.
struct Sentence {
  std::string headline, counted;
};
Sentence parts_of(const std::string& sentence) {
  const size_t colon = sentence.find(": ");
  const std::string said = colon == std::string::npos ? sentence : sentence.substr(colon + 2);
  const size_t semicolon = said.rfind("; ");
  if (semicolon == std::string::npos) return {.headline = upper_first(said), .counted = {}};
  return {.headline = upper_first(said.substr(0, semicolon)),
          .counted = upper_first(said.substr(semicolon + 2))};
}

std::string fact(const char* what, const std::string& html) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>", what, html);
}

std::string side_facts(const char* what, const RunSide& side) {
  std::string out =
      html_code(side.id, kNameCharacters) + ", " + html_code(side.target, kNameCharacters);
  if (!side.label.empty()) out += ", labelled " + html_code(side.label, kNameCharacters);
  if (!side.settings.empty())
    out += ", all cells " + html_code(settings_text(side), kSentenceCharacters);
  if (!side.fingerprint.id.empty())
    out += ", fingerprint " + html_code(side.fingerprint.id.substr(0, 16));
  return fact(what, out);
}

std::string card(const char* what, const std::string& figure, const std::string& small) {
  return fmt::format(
      "<div class=\"card\"><dt>{}</dt><dd><div class=\"big\">{}</div><div class=\"small\">{}</div>"
      "</dd></div>",
      what, html_text(figure), html_text(small));
}

std::string match_card(const char* what, const Proportion& match) {
  if (match.trials == 0) return card(what, "-", "no prompt could be judged");
  const std::string bound = match.matches == match.trials
                                ? fmt::format("prompts; at most {} of such prompts differ (95 %)",
                                              percent(match.failure_bound95))
                                : "prompts; 95 % interval " + interval_text(match.wilson95);
  return card(what, fmt::format("{} of {}", match.matches, match.trials), bound);
}

std::string cards(const RunComparison& comparison) {
  std::optional<Drift> drift;
  size_t n_exercised = 0;
  for (const CellComparison& cell : comparison.cells) {
    if (cell.max_drift && (!drift || cell.max_drift->nats > drift->nats)) drift = cell.max_drift;
    n_exercised += cell.exercised;
  }
  const PairCounts& n = comparison.totals;
  return "<dl class=\"cards\">" + match_card("Same tokens", comparison.token_match) +
         match_card("Same bits", comparison.bit_match) +
         card("Answers compared", std::to_string(n.n_pairs),
              fmt::format("in {} cells, {} exercised; {} missing", comparison.cells.size(),
                          n_exercised, n.missing + n.errors)) +
         card("Flipped answers", std::to_string(n.token_divergences),
              fmt::format("{} answers have other bits", n.numeric_divergences)) +
         card("Largest drift", drift ? fmt::format("{:.2g} nats", drift->nats) : "-",
              drift ? "of a chosen token's logprob" : "no logprobs on both sides") +
         "</dl>";
}

const char* other_cell(const RunComparison& comparison) {
  return comparison.kind == ComparisonKind::kWithinRun ? "its reference cell"
                                                       : "the same cell of the base run";
}

HtmlTable cells_table() {
  return {.name = "Cells",
          .columns = {{"cell"},
                      {"state"},
                      {"samples", true},
                      {"same tokens", true},
                      {"same bits", true},
                      {"first flip at", true},
                      {"largest drift (nats)", true},
                      {"missing", true},
                      {"tokens/s", true}},
          .n_open = kOpenCells,
          .what = "cells"};
}

std::string state_tag(const RunComparison& comparison, const CellComparison& cell, bool compared) {
  if (!compared) return html_tag("", "reference");
  if (cell.counts.token_divergences > 0) return html_tag("fail", "other tokens");
  if (!cell.exercised || !cell.complete) return html_tag("warn", state_words(comparison, cell));
  const bool judged = cell.counts.n_pairs > cell.counts.missing + cell.counts.errors;
  if (!judged) return html_tag("warn", "not compared");
  return cell.counts.numeric_divergences > 0 ? html_tag("warn", "other bits")
                                             : html_tag("pass", "same");
}

std::vector<std::string> cell_row(const RunComparison& comparison, const CellComparison& cell) {
  const bool compared =
      comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference || !cell.pairs.empty();
  const auto known = [&](const std::string& text) { return compared ? text : std::string("-"); };
  return {html_name(cell.name),
          state_tag(comparison, cell, compared),
          std::to_string(cell.n_samples),
          known(rate_text(cell.token_match)),
          known(rate_text(cell.bit_match)),
          known(first_position(cell.token_positions)),
          known(cell.max_drift ? fmt::format("{:.2g}", cell.max_drift->nats) : "-"),
          known(std::to_string(cell.counts.missing + cell.counts.errors)),
          cell.price.tokens_per_s ? quantity_text(*cell.price.tokens_per_s) : "-"};
}

std::string value_html(const std::optional<std::string>& value) {
  return value ? html_code(*value, kNameCharacters) : std::string("not known");
}

std::string item_html(const FingerprintChange& change) {
  return html_code(std::string(name(change.item_class)) + "." + change.name, kNameCharacters);
}

// A gate also knows what a change was expected to be, and what it can affect.
std::string change_table(const ReportInput& input) {
  HtmlTable table{.name = "What changed",
                  .columns = {{"item"},
                              {.name = "base", .is_value = true},
                              {.name = "candidate", .is_value = true}},
                  .n_open = kOpenChanges,
                  .what = "items"};
  const std::vector<ChangeNote>& judged = input.verdict.changes;
  if (!judged.empty()) {
    table.columns.insert(table.columns.end(), {{.name = "policy", .is_prose = true},
                                               {.name = "what it can affect", .is_prose = true}});
    for (size_t i = 0; i < std::min(judged.size(), kMaxChanges); ++i) {
      const ChangeNote& note = judged[i];
      table.rows_html.push_back(
          {item_html(note.change), value_html(note.change.base), value_html(note.change.candidate),
           name(note.expectation),
           note.effect.empty() ? "not known" : html_text(note.effect, kSentenceCharacters)});
    }
  } else {
    const auto& changes = input.comparison.fingerprint_changes;
    for (size_t i = 0; i < std::min(changes.size(), kMaxChanges); ++i)
      table.rows_html.push_back(
          {item_html(changes[i]), value_html(changes[i].base), value_html(changes[i].candidate)});
  }
  const size_t n = std::max(judged.size(), input.comparison.fingerprint_changes.size());
  std::string out = html_table(table);
  if (n > kMaxChanges) out += fmt::format("<p>{} more items changed.</p>", n - kMaxChanges);
  return out;
}

std::string group_change_list(const std::vector<GroupChange>& changes) {
  std::string out = "<ul>";
  for (size_t i = 0; i < std::min(changes.size(), kMaxChanges); ++i) {
    std::string by;
    for (const ValueChange& v : changes[i].changed) {
      by += (by.empty() ? "" : ", ") + html_code(v.axis, kNameCharacters) + " from " +
            html_code(v.from, kNameCharacters) + " to " + html_code(v.to, kNameCharacters);
    }
    out += fmt::format(
        "<li>{}: {} of {} answers have other tokens, {} the same bits, {} could not be compared"
        "</li>",
        by, changes[i].n_other_tokens, changes[i].n_pairs, changes[i].n_same_bits,
        changes[i].n_not_compared);
  }
  return out + "</ul>";
}

}  // namespace

std::string_view tone(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kFail:
    case Outcome::kIncomparable:
      return "fail";
    default:
      return "warn";
  }
}

std::string verdict_section(const ReportInput& input) {
  const RunComparison& comparison = input.comparison;
  const Sentence sentence = parts_of(input.verdict.sentence);
  std::string word = name(input.verdict.outcome);
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::string out = fmt::format(
      "<section class=\"verdict {}\" aria-labelledby=\"verdict\"><p class=\"badge\"><svg "
      "viewBox=\"0 0 16 16\" aria-hidden=\"true\">{}</svg>{} at level {}</p><h1 id=\"verdict\">{}"
      "</h1><p class=\"lede\">{}</p><dl class=\"facts\">",
      tone(input.verdict.outcome), mark(input.verdict.outcome), html_text(word),
      number(input.verdict.level), html_text(sentence.headline), html_text(sentence.counted));
  if (comparison.kind == ComparisonKind::kWithinRun) {
    out += side_facts("Run", comparison.candidate);
  } else {
    out += side_facts("Base", comparison.base) + side_facts("Candidate", comparison.candidate);
  }
  out += "</dl>";
  if (!input.next_command.empty()) out += html_command("Next:", input.next_command);
  return out + "</section>" + cards(comparison);
}

std::string reasons_section(const Verdict& verdict) {
  if (verdict.reasons.empty()) return {};
  HtmlTable table{.name = "Why",
                  .columns = {{"about"}, {"outcome"}, {"because"}},
                  .n_open = kOpenReasons,
                  .what = "reasons"};
  for (size_t i = 0; i < std::min(verdict.reasons.size(), kMaxReasons); ++i) {
    const Reason& r = verdict.reasons[i];
    table.rows_html.push_back({html_name(r.subject), html_tag(tone(r.outcome), name(r.outcome)),
                               html_sentence(r.text, r.names)});
  }
  std::string out = html_table(table);
  if (verdict.reasons.size() > kMaxReasons)
    out += fmt::format("<p>{} more reasons.</p>", verdict.reasons.size() - kMaxReasons);
  return html_section("why", "Why", "Every reason found; the first one decides.", out);
}

std::string changes_section(const ReportInput& input) {
  const RunComparison& comparison = input.comparison;
  std::string out;
  if (!comparison.fingerprint_changes.empty() || !input.verdict.changes.empty()) {
    out += html_section("changed", "What changed",
                        "Items of the fingerprint that are not the same on both sides.",
                        change_table(input));
  }
  if (!comparison.group_changes.empty()) {
    out += html_section("identity", "Changed by identity axes",
                        "These change the question or the arithmetic: reported, never judged.",
                        group_change_list(comparison.group_changes));
  }
  return out;
}

std::string cells_section(const RunComparison& comparison) {
  if (comparison.cells.empty()) return {};
  HtmlTable table = cells_table();
  for (size_t i = 0; i < std::min(comparison.cells.size(), kMaxCells); ++i)
    table.rows_html.push_back(cell_row(comparison, comparison.cells[i]));
  std::string out = html_table(table);
  if (comparison.cells.size() > kMaxCells)
    out += fmt::format("<p>{} more cells are in the .json and .csv reports.</p>",
                       comparison.cells.size() - kMaxCells);
  return html_section("cells", "Cells",
                      std::string("Each cell against ") + other_cell(comparison) +
                          "; rates count prompts, positions count from 0.",
                      out);
}

std::string reading_section() {
  return html_section(
      "reading", "How to read this", "Words with one meaning each.",
      "<dl class=\"facts wide\">"
      "<dt>Cell</dt><dd>One way of running the same requests: so many at once, with or without "
      "chunks, a cache, a restart. None of these may change an answer.</dd>"
      "<dt>Flip</dt><dd>Another token at some position. What follows has another context, so it is "
      "compared only under teacher forcing.</dd>"
      "<dt>Drift</dt><dd>Other bits of a logprob or of the logits, and the same token.</dd>"
      "<dt>Margin</dt><dd>The most likely token's logit less the second's, in nats. A drift cannot "
      "overturn a margin more than twice its size.</dd>"
      "<dt>Level 1, 2</dt><dd>1: the same tokens. 2: also the same bits of every logits row, or of "
      "every logprob where a server gives no more.</dd>"
      "<dt>Suspicious</dt><dd>A flip at a margin that rounding does not close: look for state that "
      "requests share before blaming arithmetic.</dd>"
      "<dt>Not exercised</dt><dd>There is no proof that the cell happened as planned; it is never "
      "counted as passed.</dd>"
      "<dt>95 %</dt><dd>What a rate may be, given how few prompts were asked. None of 64 prompts "
      "that differ still allows for 4.6 % of all prompts.</dd>"
      "<dt>Colours</dt><dd>Green: the same bits. Amber: other bits, the same tokens. Red: other "
      "tokens. Wherever colour speaks, a word or a number says it too.</dd>"
      "<dt>Explain</dt><dd>The command below a divergence runs both sides of it again in their "
      "recorded schedules, and names the first operator that computed other bits.</dd></dl>");
}

}  // namespace isobit

#include "report/html_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/bits.h"
#include "report/divergence_tails.h"
#include "report/html_text.h"
#include "report/report_phrases.h"

namespace isobit {
namespace {

constexpr size_t kMaxReasons = 40;
constexpr size_t kMaxCells = 400;
constexpr size_t kMaxChanges = 60;
constexpr size_t kNameCharacters = 200;

std::string section(const char* id, const char* title, const std::string& hint,
                    const std::string& content) {
  return fmt::format(
      "<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2><p class=\"hint\">{2}</p>{3}"
      "</section>\n",
      id, html_text(title), html_text(hint), content);
}

const char* tone(Outcome outcome) {
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
      "run " + html_code(side.id, 64) + ", " + html_code(side.target, kNameCharacters);
  if (!side.label.empty()) out += ", labelled " + html_code(side.label, kNameCharacters);
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
  const std::string bound =
      match.matches == match.trials
          ? fmt::format("at most {} of such prompts differ (95 %)", percent(match.failure_bound95))
          : "95 % interval " + interval_text(match.wilson95);
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
  return "<dl class=\"cards\">" +
         match_card("Prompts with the same tokens", comparison.token_match) +
         match_card("Prompts with the same bits", comparison.bit_match) +
         card("Answers compared", std::to_string(n.n_pairs),
              fmt::format("in {} cells, {} exercised; {} missing", comparison.cells.size(),
                          n_exercised, n.missing + n.errors)) +
         card("Flipped answers", std::to_string(n.token_divergences),
              fmt::format("{} have other bits", n.numeric_divergences)) +
         card("Largest drift", drift ? fmt::format("{:.2g} nats", drift->nats) : "-",
              drift ? "of a chosen token's logprob" : "no logprobs on both sides") +
         "</dl>";
}

std::string cell_row(const RunComparison& comparison, const CellComparison& cell) {
  const bool compared =
      comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference || !cell.pairs.empty();
  const auto td = [](const char* label, const std::string& text, bool number = true) {
    return fmt::format("<td{} data-label=\"{}\">{}</td>", number ? " class=\"n\"" : "", label,
                       html_text(text));
  };
  std::string out = "<tr><th scope=\"row\">" + html_code(cell.name, kNameCharacters) + "</th>" +
                    td("samples", std::to_string(cell.n_samples));
  const std::string none = "-";
  out += td("same tokens", compared ? rate_text(cell.token_match) : none);
  out += td("same bits", compared ? rate_text(cell.bit_match) : none);
  out += td("first flip at", compared ? first_position(cell.token_positions) : none);
  out += td("largest drift", compared ? drift_text(cell.max_drift) : none);
  out += td("missing", compared ? std::to_string(cell.counts.missing + cell.counts.errors) : none);
  out += td("tokens/s",
            cell.price.tokens_per_s ? fmt::format("{:.0f}", *cell.price.tokens_per_s) : none);
  const bool flipped = cell.counts.token_divergences > 0;
  const char* kind = !compared ? "" : flipped ? "fail" : cell.exercised ? "pass" : "warn";
  const std::string words = !compared                             ? "reference"
                            : flipped                             ? "other tokens"
                            : !cell.exercised                     ? state_words(cell)
                            : cell.counts.numeric_divergences > 0 ? "other bits"
                                                                  : "same";
  return out + fmt::format("<td data-label=\"state\"><span class=\"tag {}\">{}</span></td></tr>",
                           kind, html_text(words));
}

std::string change_table(const std::vector<FingerprintChange>& changes) {
  std::string out =
      "<table class=\"stack\"><thead><tr><th scope=\"col\">item</th><th scope=\"col\">base</th>"
      "<th scope=\"col\">candidate</th></tr></thead><tbody>";
  const auto shown = [](const std::optional<std::string>& value) {
    return value ? html_code(*value, kNameCharacters) : std::string("not known");
  };
  for (size_t i = 0; i < std::min(changes.size(), kMaxChanges); ++i) {
    const FingerprintChange& c = changes[i];
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-label=\"base\">{}</td><td "
        "data-label=\"candidate\">{}</td></tr>",
        html_code(std::string(name(c.item_class)) + "." + c.name, kNameCharacters), shown(c.base),
        shown(c.candidate));
  }
  out += "</tbody></table>";
  if (changes.size() > kMaxChanges)
    out += fmt::format("<p>{} more items changed.</p>", changes.size() - kMaxChanges);
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

std::string token_html(const ReportInput& input, const TailToken& token) {
  const auto text = input.token_texts.find(token.token_id);
  const std::string shown =
      text == input.token_texts.end() ? std::to_string(token.token_id) : std::string(text->second);
  const std::string code = html_code(shown, 60);
  return token.differs ? "<mark>" + code + "</mark>" : code;
}

std::string side_html(const ReportInput& input, const char* who,
                      const std::vector<TailToken>& tokens, const std::optional<float>& margin) {
  std::string out = fmt::format("<div class=\"side\"><p class=\"who\">{}", who);
  if (margin) out += fmt::format(", margin {} nats where they part", html_text(nats_text(*margin)));
  out += "</p><p class=\"tokens\">";
  for (const TailToken& token : tokens) out += token_html(input, token);
  return out + (tokens.empty() ? "(nothing)" : "") + "</p></div>";
}

const char* kind_words(const PairComparison& pair) {
  if (!pair.divergence.token) return "other bits, same tokens so far";
  switch (pair.flip.value_or(FlipKind::kUnknown)) {
    case FlipKind::kTie:
      return "a tie: both margins are within the noise";
    case FlipKind::kDrift:
      return "drift: a small margin was overturned";
    case FlipKind::kSuspicious:
      return "suspicious: rounding does not overturn such a margin";
    case FlipKind::kSampling:
      return "sampling: the same row, another choice";
    case FlipKind::kUnknown:
      return "no margin was recorded";
  }
  return "";
}

std::string divergence_html(const ReportInput& input, const RankedDivergence& found) {
  const PairComparison& pair = *found.pair;
  const Divergence& d = pair.divergence;
  const int32_t position = d.token ? d.token->position : d.numeric->position;
  std::string out = fmt::format(
      "<article class=\"tail\"><h3>{} in {}</h3><p class=\"hint\">Output token {}: {}.</p>",
      html_code(pair.request_id, kNameCharacters), html_code(found.cell->name, kNameCharacters),
      position, kind_words(pair));
  const auto tail = std::ranges::find_if(input.tails, [&](const DivergenceTail& t) {
    return t.cell == found.cell->name && t.request_id == pair.request_id &&
           t.sample_index == pair.sample_index && t.repeat == pair.repeat;
  });
  if (tail != input.tails.end()) {
    out += "<div class=\"sides\">" +
           side_html(input, "Reference", tail->reference,
                     d.token ? d.token->reference_margin : std::nullopt) +
           side_html(input, "This answer", tail->candidate,
                     d.token ? d.token->candidate_margin : std::nullopt) +
           "</div>";
  }
  if (d.numeric && d.numeric->reference_logprob && d.numeric->candidate_logprob) {
    out += fmt::format(
        "<p class=\"hint\">First other bits at token {}: {} against {} ({} ulp).</p>",
        d.numeric->position, html_code(fmt::format("{}", *d.numeric->reference_logprob)),
        html_code(fmt::format("{}", *d.numeric->candidate_logprob)), d.numeric->ulp.value_or(0));
  }
  return out + "</article>";
}

}  // namespace

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
  return out + "</dl></section>" + cards(comparison);
}

std::string reasons_section(const Verdict& verdict) {
  if (verdict.reasons.empty()) return {};
  std::string rows;
  for (size_t i = 0; i < std::min(verdict.reasons.size(), kMaxReasons); ++i) {
    const Reason& r = verdict.reasons[i];
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-label=\"outcome\"><span class=\"tag {}\">{}</span>"
        "</td><td data-label=\"because\">{}</td></tr>",
        html_code(r.subject, kNameCharacters), tone(r.outcome), name(r.outcome),
        html_text(r.text, 600));
  }
  std::string out =
      "<table class=\"stack\"><thead><tr><th scope=\"col\">about</th><th scope=\"col\">outcome</th>"
      "<th scope=\"col\">because</th></tr></thead><tbody>" +
      rows + "</tbody></table>";
  if (verdict.reasons.size() > kMaxReasons)
    out += fmt::format("<p>{} more reasons.</p>", verdict.reasons.size() - kMaxReasons);
  return section("why", "Why", "Every reason found; the first one decides.", out);
}

std::string changes_section(const RunComparison& comparison) {
  std::string out;
  if (!comparison.fingerprint_changes.empty()) {
    out += section("changed", "What changed",
                   "Items of the fingerprint that are not the same on both sides.",
                   change_table(comparison.fingerprint_changes));
  }
  if (!comparison.group_changes.empty()) {
    out += section("identity", "Changed by identity axes",
                   "These change the question or the arithmetic: reported, never judged.",
                   group_change_list(comparison.group_changes));
  }
  return out;
}

std::string cells_section(const RunComparison& comparison) {
  if (comparison.cells.empty()) return {};
  std::string rows;
  for (size_t i = 0; i < std::min(comparison.cells.size(), kMaxCells); ++i)
    rows += cell_row(comparison, comparison.cells[i]);
  std::string out =
      "<table class=\"stack\"><thead><tr><th scope=\"col\">cell</th><th scope=\"col\" class=\"n\">"
      "samples</th><th scope=\"col\" class=\"n\">same tokens</th><th scope=\"col\" "
      "class=\"n\">same "
      "bits</th><th scope=\"col\" class=\"n\">first flip at</th><th scope=\"col\" "
      "class=\"n\">largest "
      "drift</th><th scope=\"col\" class=\"n\">missing</th><th scope=\"col\" "
      "class=\"n\">tokens/s</th>"
      "<th scope=\"col\">state</th></tr></thead><tbody>" +
      rows + "</tbody></table>";
  if (comparison.cells.size() > kMaxCells)
    out += fmt::format("<p>{} more cells are in the .json and .csv reports.</p>",
                       comparison.cells.size() - kMaxCells);
  return section("cells", "Cells",
                 "Each cell against its reference; rates count prompts, positions count from 0.",
                 out);
}

std::string divergences_section(const ReportInput& input) {
  constexpr size_t kShown = 12;
  const auto worst = worst_divergences(input.comparison, kShown);
  if (worst.empty()) return {};
  std::string out;
  for (const RankedDivergence& found : worst) out += divergence_html(input, found);
  const int64_t n = input.comparison.totals.numeric_divergences;
  if (n > static_cast<int64_t>(worst.size()))
    out += fmt::format("<p>{} of {} answers with other bits or tokens are shown.</p>", worst.size(),
                       n);
  return section("worst", "Worst divergences",
                 "Suspicious flips first, then flips by margin, then drift by size. Marked tokens "
                 "are not the same on both sides.",
                 out);
}

std::string reading_section(const ReportInput& input) {
  std::string out =
      "<dl class=\"facts\">"
      "<dt>Flip</dt><dd>Another token at some position. What follows has another context, so it is "
      "compared only under teacher forcing.</dd>"
      "<dt>Drift</dt><dd>Other bits of a logprob or of the logits, and the same token.</dd>"
      "<dt>Margin</dt><dd>The most likely token's logit less the second's, in nats. A drift cannot "
      "overturn a margin more than twice its size.</dd>"
      "<dt>Level 1, 2</dt><dd>1: the same tokens. 2: also the same bits of every logits row, or of "
      "every logprob where a server gives no more.</dd>"
      "<dt>Not exercised</dt><dd>There is no proof that the cell happened as planned; it is never "
      "counted as passed.</dd></dl>";
  if (!input.next_command.empty()) {
    out += fmt::format(
        "<div class=\"command\"><code>{}</code><button type=\"button\" data-copy hidden>Copy"
        "</button></div>",
        html_text(input.next_command));
  }
  return section("reading", "How to read this", "Words with one meaning each.", out);
}

}  // namespace isobit

// The worst divergences: both sides' tokens side by side, and the commands that look further.
#include <fmt/format.h>

#include <algorithm>

#include "base/shell_word.h"
#include "compare/sample_name.h"
#include "report/html_blocks.h"
#include "report/html_sections.h"
#include "report/html_text.h"
#include "report/report_phrases.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kShown = 12;
constexpr const char* kExplains = "Why it differs:";

// The first token that differs is what matters; those after it answer another question.
std::string tokens_html(const ReportInput& input, const std::vector<TailToken>& tokens) {
  std::string out;
  bool parted = false;
  for (const TailToken& token : tokens) {
    const auto text = input.token_texts.find(token.token_id);
    const std::string code = html_code(
        text == input.token_texts.end() ? std::to_string(token.token_id) : text->second, 60);
    if (token.differs && !parted) {
      out += "<mark>" + code + "</mark>";
    } else {
      out += token.differs ? "<span class=\"after\">" + code + "</span>" : code;
    }
    parted = parted || token.differs;
  }
  return tokens.empty() ? "(nothing)" : out;
}

std::string margin_words(const std::optional<float>& margin,
                         const std::optional<double>& percentile) {
  if (!margin) return {};
  std::string out = fmt::format("margin {} nats", nats_text(*margin));
  if (percentile) out += fmt::format(", narrower than {:.0f} % of choices", 100 - *percentile);
  return out;
}

std::string side_html(const ReportInput& input, std::string_view who,
                      const std::vector<TailToken>& tokens, const std::string& margin) {
  return fmt::format(
      "<div class=\"side\"><p class=\"who\"><b>{}</b>{}</p><p class=\"tokens\">{}</p></div>", who,
      margin.empty() ? std::string() : "<span>" + html_text(margin) + "</span>",
      tokens_html(input, tokens));
}

const char* kind_words(const PairComparison& pair) {
  if (!pair.divergence.token) return "other bits from here on; all tokens are the same";
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

bool of_two_runs(const ReportInput& input) {
  return input.comparison.kind == ComparisonKind::kBetweenRuns;
}

std::string sides_html(const ReportInput& input, const DivergenceTail& tail, const Divergence& d) {
  const bool flipped = d.token.has_value();
  const auto margin = [&](std::optional<float> TokenDivergence::*value,
                          std::optional<double> TokenDivergence::*percentile) {
    return flipped ? margin_words((*d.token).*value, (*d.token).*percentile) : std::string();
  };
  return "<div class=\"sides\">" +
         side_html(input, of_two_runs(input) ? "Base run" : "Reference cell", tail.reference,
                   margin(&TokenDivergence::reference_margin,
                          &TokenDivergence::reference_margin_percentile)) +
         side_html(input, "This answer", tail.candidate,
                   margin(&TokenDivergence::candidate_margin,
                          &TokenDivergence::candidate_margin_percentile)) +
         "</div>";
}

// A name that a terminal would not show as it is, is nothing to paste into a shell.
std::string command_html(const ReportInput& input, const RankedDivergence& found) {
  const std::string name = sample_name(input.comparison, *found.cell, *found.pair);
  if (visible_text(name) != name || name.size() > 500)
    return "<p class=\"hint\">Its name holds characters that are not safe to paste: isobit explain "
           "takes the numbers of cell and prompt instead.</p>";
  const std::string word = shell_word(name);
  if (of_two_runs(input)) {
    const std::string& base = input.base_ref.empty() ? input.comparison.base.id : input.base_ref;
    return html_command(
        kExplains, "isobit explain " + word + " --base " + shell_word(base) + input.store_option);
  }
  std::string out = html_command(kExplains, "isobit explain " + word + input.store_option);
  if (found.pair->divergence.token)
    out += html_command("The smallest load under which it still flips:",
                        "isobit reduce " + word + " --tokens" + input.store_option);
  return out;
}

const DivergenceTail* tail_of(const ReportInput& input, const RankedDivergence& found) {
  const auto tail = std::ranges::find_if(input.tails, [&](const DivergenceTail& t) {
    return t.cell == found.cell->name && t.request_id == found.pair->request_id &&
           t.sample_index == found.pair->sample_index && t.repeat == found.pair->repeat;
  });
  return tail == input.tails.end() ? nullptr : &*tail;
}

std::string divergence_html(const ReportInput& input, const RankedDivergence& found) {
  const PairComparison& pair = *found.pair;
  const Divergence& d = pair.divergence;
  std::string out = fmt::format(
      "<article class=\"tail\"><h3>{} <span class=\"in\">in</span> {}</h3><p "
      "class=\"hint\">Output token {}: {}.</p>",
      html_code(pair.request_id, kNameCharacters), html_name(found.cell->name),
      d.token ? d.token->position : d.numeric->position, kind_words(pair));
  if (const DivergenceTail* tail = tail_of(input, found)) out += sides_html(input, *tail, d);
  if (d.numeric && d.numeric->reference_logprob && d.numeric->candidate_logprob) {
    out += fmt::format(
        "<p class=\"hint\">First other bits at token {}: logprob {} against {} ({} ulp).</p>",
        d.numeric->position, html_code(fmt::format("{}", *d.numeric->reference_logprob)),
        html_code(fmt::format("{}", *d.numeric->candidate_logprob)), d.numeric->ulp.value_or(0));
  }
  return out + command_html(input, found) + "</article>";
}

}  // namespace

std::string divergences_section(const ReportInput& input) {
  const auto worst = worst_divergences(input.comparison, kShown);
  if (worst.empty()) return {};
  std::string out;
  for (const RankedDivergence& found : worst) out += divergence_html(input, found);
  const int64_t n = input.comparison.totals.numeric_divergences;
  if (n > static_cast<int64_t>(worst.size()))
    out += fmt::format("<p>{} of {} answers with other bits or tokens are shown.</p>", worst.size(),
                       n);
  return html_section("worst", "Worst divergences",
                      "Suspicious flips first, then flips by margin, then drift by size. The first "
                      "token that differs is marked; what follows it is underlined.",
                      out);
}

}  // namespace isobit

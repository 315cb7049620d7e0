// A verdict for a terminal of 80 columns: the sentence and its reasons, and for a gate the tables
// that the reasons rest on.
#include <fmt/format.h>

#include "gate/metrics.h"
#include "report/report.h"
#include "report/report_phrases.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kMaxReasons = 12;
constexpr size_t kMaxNotes = 12;
constexpr size_t kMaxChanges = 15;
constexpr size_t kMaxRules = 40;
constexpr size_t kValueCharacters = 20;
constexpr size_t kNameCharacters = 200;
constexpr size_t kSentenceCharacters = 1000;

bool is_digest(const std::string& value) {
  constexpr size_t kSha256HexCharacters = 64;
  return value.size() == kSha256HexCharacters &&
         value.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// As recorded: the table makes it printable. A digest is told from others by its beginning.
std::string shortened(const std::optional<std::string>& value) {
  if (!value) return "unknown";
  if (is_digest(*value)) return value->substr(0, kValueCharacters) + "...";
  return bounded_name(*value, kValueCharacters);
}

std::string subject_and_text(const Reason& reason) {
  return visible_text(reason.subject, kNameCharacters) + ": " +
         visible_text(bounded_sentence(reason.text, reason.names, kSentenceCharacters));
}

std::string more_line(size_t total, size_t shown, const char* what) {
  return total > shown ? fmt::format("and {} more {}\n", total - shown, what) : std::string();
}

std::string verdict_cell(const RuleResult& result, const RuleUnit* unit) {
  if (!result.let_through.empty()) return "let through";
  if (unit == nullptr) return "-";
  return unit->outcome == Outcome::kPass && !unit->holds ? "info" : name(result.outcome);
}

constexpr size_t kIndent = 16;

std::string rule_lines(const RuleResult& result) {
  const std::string id =
      bounded_name(result.rule.id, kNameCharacters) +
      (result.tier.empty() ? "" : ", tier " + bounded_name(result.tier, kNameCharacters));
  return fmt::format("  {:<{}}{}{}{}", verdict_cell(result, result.deciding()), kIndent - 2,
                     wrapped_text(visible_text(id), kIndent), std::string(kIndent, ' '),
                     wrapped_text(visible_text(rule_words(result), kSentenceCharacters), kIndent));
}

std::string rules_list(const Verdict& verdict) {
  std::string out;
  for (size_t i = 0; i < std::min(verdict.rules.size(), kMaxRules); ++i)
    out += rule_lines(verdict.rules[i]);
  if (out.empty()) return out;
  return "rules:\n" + out + more_line(verdict.rules.size(), kMaxRules, "rules");
}

std::string price(const TierResult& tier, double Timings::*what) {
  if (!tier.base || !tier.candidate) return "-";
  return quantity_text((*tier.base).*what) + " -> " + quantity_text((*tier.candidate).*what);
}

std::vector<std::string> tier_row(const TierResult& tier) {
  const Figure& match = tier.match;
  const bool known = match.state == FigureState::kKnown;
  return {tier.tier.name,
          fmt::format("{}", number(tier.tier.level)),
          fmt::format("{}", tier.n_prompts),
          known ? fmt::format("{:.1f} %", 100 * match.value) : "-",
          known && match.interval95 ? fmt::format("{:.1f}-{:.1f} %", 100 * match.interval95->low,
                                                  100 * match.interval95->high)
                                    : "-",
          price(tier, &Timings::tokens_per_s),
          price(tier, &Timings::ttft_p50_ms),
          price(tier, &Timings::latency_p95_ms)};
}

std::string tiers_table(const Verdict& verdict) {
  if (verdict.tiers.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const TierResult& tier : verdict.tiers) rows.push_back(tier_row(tier));
  return "\ntiers, base -> candidate:\n" + text_table({{"tier", Align::kLeft},
                                                       {"level", Align::kRight},
                                                       {"prompts", Align::kRight},
                                                       {"same", Align::kRight},
                                                       {"95 %", Align::kRight},
                                                       {"tok/s/request", Align::kRight},
                                                       {"TTFT p50 ms", Align::kRight},
                                                       {"p95 ms", Align::kRight}},
                                                      rows);
}

std::string changes_table(const Verdict& verdict) {
  if (verdict.changes.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(verdict.changes.size(), kMaxChanges); ++i) {
    const ChangeNote& note = verdict.changes[i];
    rows.push_back({std::string(name(note.change.item_class)) + "." + note.change.name,
                    shortened(note.change.base) + " -> " + shortened(note.change.candidate),
                    name(note.expectation), note.effect});
  }
  return "\nchanged in the fingerprint:\n" +
         text_table({{"item", Align::kLeft},
                     {"base -> candidate", Align::kLeft},
                     {"policy", Align::kLeft},
                     {"what it can affect", Align::kLeft}},
                    rows) +
         more_line(verdict.changes.size(), kMaxChanges, "items");
}

std::string notes_text(const Verdict& verdict) {
  std::string out;
  for (size_t i = 0; i < std::min(verdict.notes.size(), kMaxNotes); ++i) {
    const Reason& note = verdict.notes[i];
    constexpr std::string_view kBegin = "note: ";
    out += kBegin;
    out += wrapped_text(subject_and_text(note), kBegin.size());
  }
  return out.empty() ? out : "\n" + out + more_line(verdict.notes.size(), kMaxNotes, "notes");
}

}  // namespace

namespace {

std::string with_reasons(const Verdict& verdict, const std::string& sentence,
                         const char* word_for_fail) {
  std::string out = wrapped_text(visible_text(bounded_sentence(sentence, {verdict.policy.name})));
  for (size_t i = 0; i < std::min(verdict.reasons.size(), kMaxReasons); ++i) {
    const Reason& reason = verdict.reasons[i];
    const std::string line = fmt::format(
        "{}: {}", reason.outcome == Outcome::kFail ? word_for_fail : name(reason.outcome),
        subject_and_text(reason));
    out += "  " + wrapped_text(line, 2);
  }
  if (verdict.reasons.size() > kMaxReasons)
    out += fmt::format("  and {} more reasons\n", verdict.reasons.size() - kMaxReasons);
  return out;
}

}  // namespace

std::string verdict_text(const Verdict& verdict) {
  return with_reasons(verdict, verdict.sentence, name(Outcome::kFail));
}

std::string finding_text(const Verdict& verdict) {
  const size_t colon = verdict.sentence.find(": ");
  if (verdict.outcome != Outcome::kFail || colon == std::string::npos) return verdict_text(verdict);
  return with_reasons(verdict, "differences found" + verdict.sentence.substr(colon), "differs");
}

std::string verdict_details(const Verdict& verdict) {
  const std::string rules = rules_list(verdict);
  return (rules.empty() ? "" : "\n" + rules) + tiers_table(verdict) + changes_table(verdict) +
         notes_text(verdict);
}

}  // namespace isobit

// What a policy asked and what it got: rules with their figures, tiers with their price, and what
// was let through.
#include <fmt/format.h>

#include <algorithm>

#include "gate/metrics.h"
#include "report/html_blocks.h"
#include "report/html_sections.h"
#include "report/html_text.h"
#include "report/report_phrases.h"

namespace isobit {
namespace {

constexpr size_t kOpenRules = 20;
constexpr size_t kMaxRules = 200;
constexpr size_t kMaxNotes = 40;

std::string rule_html(const RuleResult& result) {
  std::string out = html_code(result.rule.id, kNameCharacters);
  if (!result.tier.empty()) out += "<br>tier " + html_code(result.tier, kNameCharacters);
  return out;
}

std::string outcome_html(const RuleResult& result, const RuleUnit* unit) {
  if (!result.let_through.empty()) return html_tag("warn", "let through");
  if (unit == nullptr) return "-";
  if (unit->outcome == Outcome::kPass && !unit->holds) return html_tag("", "info");
  return html_tag(tone(result.outcome), name(result.outcome));
}

// "2 of 64 prompts differ (3.1 %)", and below it "95 %: 0.9 to 10.7 %"
std::string measured_html(const RuleResult& result, const RuleUnit& unit, const Metric& metric) {
  const Figure& figure = unit.figure;
  if (figure.state != FigureState::kKnown) return html_text(figure.missing, kSentenceCharacters);
  std::string out = html_sentence(figure_words(metric, figure), names_in(unit));
  if (const std::string words = interval_words(unit, result.rule); !words.empty())
    out += "<br><small>" + html_text(words) + "</small>";
  return out;
}

std::string where_html(const RuleResult& result, const RuleUnit& unit) {
  std::string out = html_code(unit.unit, kNameCharacters);
  if (result.units.size() > 1) out += html_text(unit_words(result, unit).substr(unit.unit.size()));
  if (const std::string decided = deciding_text(unit.figure); !decided.empty())
    out += "<br><small>decided by " + html_sentence(decided, names_in(unit)) + "</small>";
  return out;
}

std::vector<std::string> rule_row(const RuleResult& result) {
  const Metric* metric = find_metric(result.rule.metric);
  const RuleUnit* unit = result.deciding();
  const bool known = metric != nullptr && unit != nullptr;
  return {rule_html(result), outcome_html(result, unit),
          metric == nullptr ? "-" : html_text(limit_text(result.rule)),
          known ? measured_html(result, *unit, *metric) : "nothing to compare",
          known ? where_html(result, *unit) : "-"};
}

std::string notes_html(const Verdict& verdict) {
  if (verdict.notes.empty()) return {};
  std::string out = "<h3 class=\"sub\">Notes, which decide nothing</h3><ul>";
  for (size_t i = 0; i < std::min(verdict.notes.size(), kMaxNotes); ++i) {
    out += "<li>" + html_code(verdict.notes[i].subject, kNameCharacters) + ": " +
           html_sentence(verdict.notes[i].text, verdict.notes[i].names) + "</li>";
  }
  out += "</ul>";
  if (verdict.notes.size() > kMaxNotes)
    out += fmt::format("<p>{} more notes.</p>", verdict.notes.size() - kMaxNotes);
  return out;
}

std::string policy_words(const Policy& policy) {
  if (policy.name.empty()) return "What the level asks, and what was found.";
  std::string out = "Policy " + policy.name + ".";
  if (!policy.description.empty()) out += " " + policy.description;
  return out;
}

std::string price(const TierResult& tier, double Timings::*what) {
  if (!tier.base || !tier.candidate) return "-";
  return html_text(quantity_text((*tier.base).*what) + " -> " +
                   quantity_text((*tier.candidate).*what));
}

}  // namespace

std::string rules_section(const Verdict& verdict) {
  if (verdict.rules.empty()) return {};
  HtmlTable table{.name = "Rules",
                  .columns = {{"rule"}, {"outcome"}, {"asked"}, {"measured"}, {"where"}},
                  .n_open = kOpenRules,
                  .what = "rules"};
  for (size_t i = 0; i < std::min(verdict.rules.size(), kMaxRules); ++i)
    table.rows_html.push_back(rule_row(verdict.rules[i]));
  std::string out = html_table(table);
  if (verdict.rules.size() > kMaxRules)
    out += fmt::format("<p>{} more rules.</p>", verdict.rules.size() - kMaxRules);
  return html_section("rules", "Rules", policy_words(verdict.policy), out + notes_html(verdict));
}

std::string tiers_section(const Verdict& verdict) {
  if (verdict.tiers.empty()) return {};
  HtmlTable table{.name = "Tiers",
                  .columns = {{"tier"},
                              {"level", true},
                              {"prompts", true},
                              {"same", true},
                              {"95 % interval", true},
                              {"tokens/s per request", true},
                              {"TTFT p50 (ms)", true},
                              {"latency p95 (ms)", true}}};
  for (const TierResult& tier : verdict.tiers) {
    const Figure& match = tier.match;
    const bool known = match.state == FigureState::kKnown;
    table.rows_html.push_back(
        {html_code(tier.tier.name, kNameCharacters), fmt::format("{}", number(tier.tier.level)),
         std::to_string(tier.n_prompts), known ? percent(match.value) : "-",
         known && match.interval95 ? interval_text(*match.interval95) : "-",
         price(tier, &Timings::tokens_per_s), price(tier, &Timings::ttft_p50_ms),
         price(tier, &Timings::latency_p95_ms)});
  }
  return html_section("tiers", "Tiers",
                      "What each tier of requests gets, and what it costs: base, then candidate.",
                      html_table(table));
}

}  // namespace isobit

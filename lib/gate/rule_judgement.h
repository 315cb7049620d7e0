// One rule on one comparison: a figure per unit, and whether each keeps to the rule's limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/figure.h"
#include "gate/outcome.h"
#include "gate/policy.h"
#include "gate/selection.h"

namespace isobit {

struct Metric;

struct RuleUnit {
  std::string unit;  // "run", a cell, "axis=value", a tag, a request id
  Figure figure;
  Outcome outcome = Outcome::kPass;  // with the rule's severity applied
  bool holds = true;                 // false for a breach of any severity, info included
};

struct RuleResult {
  Rule rule;
  std::string tier;                  // whose requests; empty: all
  Outcome outcome = Outcome::kPass;  // the one of its units that decides
  std::vector<RuleUnit> units;       // in the order of the comparison
  // Of an override that lets the whole rule through; empty: none.
  std::string let_through;

  // The unit that decides the rule: by outcome, then by how far the figure is past its limit.
  // Null: it selects nothing.
  const RuleUnit* deciding() const;
};

// Sets outcome and `holds` from the figure. Severity decides what a breach is; what cannot be known
// is never a pass, unless the rule only informs.
void judge_unit(const Rule& rule, RuleUnit& unit);

RuleResult judge_rule(const Rule& rule, const RunComparison& comparison, const Waivers& waivers,
                      const TierList* tiers = nullptr, std::optional<size_t> tier = std::nullopt);

// Adds what a rule of the policy's own found.
void give_reasons(const RuleResult& result, ReasonList& reasons);

// The sentence of such a reason: "token_flips of load.concurrency=8 is 2 (...), at most 0; ...".
std::string breach_text(const Rule& rule, const RuleUnit& unit);

std::string limit_text(const Rule& rule);  // "at most 2 %, with its 95 % bound"
std::string interval_words(const RuleUnit& unit, const Rule& rule);  // "95 %: 0.9 to 10.7 %"
// "1 of 8 prompts differ (12.5 %)"; of a figure that is not known: why.
std::string figure_words(const Metric& metric, const Figure& figure);
// "load.concurrency=8, the worst of 2 cells"
std::string unit_words(const RuleResult& result, const RuleUnit& unit);
// "load.concurrency=8 p3 at position 4, and 2 more"; "" where none decides it.
std::string deciding_text(const Figure& figure);
// What these texts hold that was named outside: the unit, and the cells and requests that decide.
std::vector<std::string> names_in(const RuleUnit& unit);

}  // namespace isobit

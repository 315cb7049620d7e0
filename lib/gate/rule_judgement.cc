#include "gate/rule_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "gate/metrics.h"

namespace isobit {
namespace {

const Metric& metric_of(const Rule& rule) {
  const Metric* metric = find_metric(rule.metric);
  ISOBIT_REQUIRE(metric != nullptr);
  return *metric;
}

Outcome outcome_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return Outcome::kPass;
    case Severity::kWarn:
      return Outcome::kWarn;
    case Severity::kFail:
      return Outcome::kFail;
  }
  return Outcome::kFail;
}

bool within_limits(const Rule& rule, double low, double high) {
  return !(rule.min && low < *rule.min) && !(rule.max && high > *rule.max);
}

bool bound_holds(const Rule& rule, const Figure& figure) {
  return within_limits(rule, figure.low_bound95.value_or(figure.value),
                       figure.high_bound95.value_or(figure.value));
}

double excess(const Rule& rule, const Figure& figure) {
  double past = -std::numeric_limits<double>::infinity();
  if (rule.max) past = std::max(past, figure.value - *rule.max);
  if (rule.min) past = std::max(past, *rule.min - figure.value);
  return past;
}

// How many failure-free prompts would bring the bound under the limit: (1 - limit)^n <= 5 %.
std::string enough_prompts(const Rule& rule, const Figure& figure) {
  if (!rule.max || *rule.max <= 0 || *rule.max >= 1 || figure.value > 0) return {};
  const double n = std::ceil(std::log(0.05) / std::log1p(-*rule.max));
  return fmt::format("; {:.0f} prompts without a difference would show it", n);
}

std::string bound_text(const Metric& metric, const Rule& rule, const Figure& figure) {
  std::string text;
  if (rule.max && figure.high_bound95)
    text += fmt::format("; with 95 % confidence only at most {}",
                        figure_text(metric, *figure.high_bound95));
  if (rule.min && figure.low_bound95)
    text += fmt::format("; with 95 % confidence only at least {}",
                        figure_text(metric, *figure.low_bound95));
  return text;
}

std::string selectors_text(const Selectors& where) {
  std::vector<std::string> words;
  for (const std::string& cell : where.cells) words.push_back("cell " + cell);
  for (const auto& [axis, values] : where.axes) {
    words.push_back(values.empty() ? axis : fmt::format("{}={}", axis, fmt::join(values, "|")));
  }
  for (const std::string& tag : where.tags) words.push_back("tag " + tag);
  for (const std::string& prompt : where.prompts) words.push_back("prompt " + prompt);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> names_in(const Selectors& where) {
  std::vector<std::string> names;
  for (const auto* list : {&where.cells, &where.tags, &where.prompts})
    names.insert(names.end(), list->begin(), list->end());
  for (const auto& [axis, values] : where.axes) {
    names.push_back(axis);
    names.insert(names.end(), values.begin(), values.end());
  }
  return names;
}

// "every cell's token_mismatch_rate": what a rule without units would have looked at.
std::string nothing_selected(const Rule& rule) {
  const std::string where = selectors_text(rule.where);
  return fmt::format("the comparison has nothing in scope {}{}{}", name(rule.scope),
                     where.empty() ? "" : " for ", where);
}

}  // namespace

void judge_unit(const Rule& rule, RuleUnit& unit) {
  const Figure& figure = unit.figure;
  const bool informs = rule.severity == Severity::kInfo;
  if (figure.state == FigureState::kNotRecorded) {
    unit.outcome = informs ? Outcome::kPass : Outcome::kUnsupported;
    unit.holds = false;
  } else if (figure.state == FigureState::kNothing) {
    unit.outcome = informs ? Outcome::kPass : Outcome::kInconclusive;
    unit.holds = false;
  } else if (!within_limits(rule, figure.value, figure.value)) {
    unit.outcome = outcome_of(rule.severity);
    unit.holds = false;
  } else if (rule.confidence == Confidence::kBound && !bound_holds(rule, figure)) {
    unit.outcome = informs ? Outcome::kPass : Outcome::kInconclusive;
    unit.holds = false;
  }
}

const RuleUnit* RuleResult::deciding() const {
  const RuleUnit* most = nullptr;
  for (const RuleUnit& unit : units) {
    if (most == nullptr || precedence(unit.outcome) > precedence(most->outcome) ||
        (unit.outcome == most->outcome && excess(rule, unit.figure) > excess(rule, most->figure)))
      most = &unit;
  }
  return most;
}

RuleResult judge_rule(const Rule& rule, const RunComparison& comparison, const Waivers& waivers,
                      const TierList* tiers, std::optional<size_t> tier) {
  RuleResult result{.rule = rule, .tier = {}, .units = {}, .let_through = {}};
  const Metric& metric = metric_of(rule);
  for (const Selection& selection : select(rule, comparison, waivers, tiers, tier)) {
    // What an override or a tier emptied has nothing to say; a run-wide rule without any pair has.
    const bool no_pairs = std::all_of(selection.cells.begin(), selection.cells.end(),
                                      [](const SelectedCell& c) { return c.pairs.empty(); });
    if (no_pairs && rule.scope != Scope::kRun) continue;
    RuleUnit unit{.unit = selection.unit, .figure = metric.figure(selection)};
    judge_unit(rule, unit);
    if (precedence(unit.outcome) > precedence(result.outcome)) result.outcome = unit.outcome;
    result.units.push_back(std::move(unit));
  }
  if (tier && tiers->divided()) result.tier = tiers->tiers()[*tier].name;
  return result;
}

std::string breach_text(const Rule& rule, const RuleUnit& unit) {
  const Metric& metric = metric_of(rule);
  const Figure& figure = unit.figure;
  if (figure.state == FigureState::kNotRecorded) {
    return fmt::format("metric {} cannot be computed for {}: {}", rule.metric, unit.unit,
                       figure.missing);
  }
  if (figure.state == FigureState::kNothing)
    return fmt::format("{} of {} is not known: {}", rule.metric, unit.unit, figure.missing);
  std::string text =
      fmt::format("{} of {} is {}", rule.metric, unit.unit, figure_text(metric, figure.value));
  if (!figure.counted.empty()) text += " (" + figure.counted + ")";
  text += ", " + limit_text(rule);
  if (within_limits(rule, figure.value, figure.value)) {
    text += bound_text(metric, rule, figure) + enough_prompts(rule, figure);
  } else if (figure.interval95) {
    text += "; " + interval_words(unit, rule);
  }
  if (const std::string samples = deciding_text(figure); !samples.empty())
    text += "; decided by " + samples;
  return text;
}

void give_reasons(const RuleResult& result, ReasonList& reasons) {
  const Rule& rule = result.rule;
  if (result.units.empty()) {
    if (rule.severity != Severity::kInfo)
      reasons.add(Outcome::kInconclusive, rule.id, nothing_selected(rule), names_in(rule.where));
    return;
  }
  for (const RuleUnit& unit : result.units) {
    if (unit.holds) continue;
    if (unit.outcome == Outcome::kPass) {
      reasons.note(rule.id, breach_text(rule, unit), names_in(unit));
    } else {
      reasons.add(unit.outcome, rule.id, breach_text(rule, unit), names_in(unit));
    }
  }
}

std::string limit_text(const Rule& rule) {
  const Metric& metric = metric_of(rule);
  std::string text;
  if (rule.min) text = "at least " + figure_text(metric, *rule.min);
  if (rule.max)
    text += (text.empty() ? "" : " and ") + ("at most " + figure_text(metric, *rule.max));
  if (rule.confidence == Confidence::kBound) text += " with its 95 % bound";
  return text;
}

// Without failures the interval's end says less than the exact bound.
std::string interval_words(const RuleUnit& unit, const Rule& rule) {
  const Metric& metric = metric_of(rule);
  const Figure& figure = unit.figure;
  if (figure.state != FigureState::kKnown || !figure.interval95) return {};
  if (figure.value == 0 && figure.high_bound95 && figure.interval95->low >= 0)
    return "95 %: at most " + figure_text(metric, *figure.high_bound95);
  if (figure.value == 1 && figure.low_bound95 && figure.interval95->high <= 1)
    return "95 %: at least " + figure_text(metric, *figure.low_bound95);
  return fmt::format("95 %: {} to {}", figure_text(metric, figure.interval95->low),
                     figure_text(metric, figure.interval95->high));
}

namespace {

const char* units_of(Scope scope) {
  switch (scope) {
    case Scope::kRun:
      return "runs";
    case Scope::kCell:
      return "cells";
    case Scope::kAxis:
      return "axis values";
    case Scope::kTag:
      return "tags";
    case Scope::kPrompt:
      return "prompts";
  }
  return "units";
}

}  // namespace

std::string figure_words(const Metric& metric, const Figure& figure) {
  if (figure.state != FigureState::kKnown) return figure.missing;
  const std::string value = figure_text(metric, figure.value);
  if (figure.counted.empty()) return value;
  if (std::string_view(metric.name) == "noise_p_value")
    return fmt::format("{}; if noise were all, so many or more would differ with probability {}",
                       figure.counted, value);
  if (figure.counted.starts_with(value + " ")) return figure.counted;
  return fmt::format("{} ({})", figure.counted, value);
}

std::string unit_words(const RuleResult& result, const RuleUnit& unit) {
  if (result.units.size() < 2) return unit.unit;
  return fmt::format("{}, the worst of {} {}", unit.unit, result.units.size(),
                     units_of(result.rule.scope));
}

std::vector<std::string> names_in(const RuleUnit& unit) {
  std::vector<std::string> names = {unit.unit};
  for (const DecidingSample& sample : unit.figure.deciding) {
    names.push_back(sample.cell);
    names.push_back(sample.request_id);
  }
  return names;
}

std::string deciding_text(const Figure& figure) {
  if (figure.deciding.empty()) return {};
  std::string text;
  for (const DecidingSample& sample : figure.deciding) {
    if (!text.empty()) text += ", ";
    text += sample.cell + " " + sample.request_id;
    if (sample.sample_index > 0) text += fmt::format(" choice {}", sample.sample_index);
    if (sample.repeat > 0) text += fmt::format(" repeat {}", sample.repeat);
    if (sample.position) text += fmt::format(" at position {}", *sample.position);
  }
  const int64_t more = figure.n_deciding - static_cast<int64_t>(figure.deciding.size());
  return more > 0 ? text + fmt::format(", and {} more", more) : text;
}

}  // namespace isobit

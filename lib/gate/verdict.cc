#include "gate/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "gate/evidence.h"

namespace isobit {
namespace {

// One gate, step by step. Everything that is found lands in `reasons_` and `verdict_`.
class Judge {
 public:
  Judge(const Policy& policy, const RunComparison& comparison)
      : policy_(policy),
        comparison_(comparison),
        waivers_(policy.overrides),
        tiers_(policy, comparison) {}

  void evidence() { judge_evidence(comparison_, tiers_, waivers_, reasons_); }

  void run_status() { judge_status(comparison_.candidate, "the run", reasons_); }

  void between_runs(const GateRequest& request) {
    judge_must_match(comparison_, policy_, reasons_);
    judge_status(comparison_.base, "the base run", reasons_);
    judge_status(comparison_.candidate, "the candidate run", reasons_);
    evidence();
    judge_cell_lists(comparison_, waivers_, reasons_);
    judge_coverage(comparison_, policy_.coverage, waivers_, reasons_);
    verdict_.changes = judge_changes(comparison_, policy_.changes, request.effect_of, reasons_);
    verdict_.tiers = tier_table(comparison_, tiers_, waivers_);
    tell_of_empty_tiers();
    tell_of_unknown_names();
  }

  // The level's own rules, for each tier at its level.
  void level_rules(const RunComparison& comparison, Against against, const char* prefix) {
    const TierList tiers(policy_, comparison);  // request indices are the comparison's own
    for (size_t i = 0; i < tiers.tiers().size(); ++i) {
      const Level level = tiers.tiers()[i].level;
      const bool asks_only_about_base = level == Level::kStatistical &&
                                        against == Against::kReference &&
                                        comparison_.kind == ComparisonKind::kBetweenRuns;
      if (asks_only_about_base) continue;
      level_rule_of_tier(comparison, level_rule(level, against), tiers, i, prefix);
    }
  }

  // What could not be compared cannot be suspicious; the evidence tells of it.
  void suspicious(const RunComparison& comparison, Against against) {
    RuleResult result = judge_rule(suspicious_rule(against), comparison, waivers_);
    std::erase_if(result.units,
                  [](const RuleUnit& u) { return u.figure.state != FigureState::kKnown; });
    result.outcome = Outcome::kPass;
    for (const RuleUnit& unit : result.units) {
      if (!unit.holds) result.outcome = Outcome::kFail;
    }
    keep(std::move(result), GiveReasons::yes);
  }

  void own_rules(const RunComparison* within) {
    for (const Rule& rule : policy_.rules) {
      if (rule.against == Against::kBase) {
        keep(judge_rule(rule, comparison_, waivers_), GiveReasons::yes);
      } else if (within != nullptr) {
        keep(judge_rule(rule, *within, waivers_), GiveReasons::yes);
      } else {
        reasons_.add(Outcome::kInconclusive, rule.id,
                     "asks about the candidate's own cells, which were not compared");
      }
    }
  }

  void tell_of_overrides() {
    for (const Override& o : policy_.overrides) {
      if (names_nothing(o))
        reasons_.add(Outcome::kWarn, "override",
                     fmt::format("lets {} through, which is in no cell that was compared: {}",
                                 scope_text(o), o.reason),
                     {o.rule, o.cell, o.prompt});
      reasons_.note(
          "override",
          fmt::format("{} let through until {}: {}", scope_text(o), date_text(o.expires), o.reason),
          {o.rule, o.cell, o.prompt});
    }
  }

  Verdict verdict() && {
    verdict_.level = policy_.level;
    verdict_.policy = policy_;
    verdict_.notes = reasons_.notes();
    verdict_.reasons = std::move(reasons_).sorted();
    if (!verdict_.reasons.empty()) verdict_.outcome = verdict_.reasons.front().outcome;
    return std::move(verdict_);
  }

 private:
  enum class GiveReasons { no, yes };

  // A misspelt tag must not drop what a tier promises without a word. The last tier is what the
  // others leave over.
  void tell_of_empty_tiers() {
    for (size_t i = 0; i + 1 < verdict_.tiers.size(); ++i) {
      const TierResult& tier = verdict_.tiers[i];
      if (tier.n_prompts > 0) continue;
      reasons_.add(
          Outcome::kWarn, "tier " + tier.tier.name,
          fmt::format("takes no request: none has the tag {}", fmt::join(tier.tier.tags, " or ")),
          tier.tier.tags);
    }
  }

  bool has_tag(const std::string& tag) const {
    return std::ranges::any_of(comparison_.request_tags, [&](const auto& tags) {
      return std::ranges::find(tags, tag) != tags.end();
    });
  }

  bool has_cell(const std::string& pattern) const {
    return std::ranges::any_of(
        comparison_.cells, [&](const CellComparison& cell) { return matches(pattern, cell.name); });
  }

  bool has_prompt(const std::string& pattern) const {
    return std::ranges::any_of(comparison_.cells, [&](const CellComparison& cell) {
      return std::ranges::any_of(cell.pairs, [&](const PairComparison& pair) {
        return matches(pattern, pair.request_id);
      });
    });
  }

  // One of several names, where the others are there. Where none is, a tier takes no request and a
  // rule selects nothing, and both say so.
  template <typename Known>
  void tell_of_unknown(const std::string& subject, const char* what,
                       const std::vector<std::string>& names, const Known& known) {
    if (std::ranges::none_of(names, known)) return;
    for (const std::string& name : names) {
      if (!known(name))
        reasons_.add(Outcome::kWarn, subject,
                     fmt::format("names the {} {}, which was not recorded", what, name), {name});
    }
  }

  void tell_of_unknown_names() {
    const auto tag = [&](const std::string& name) { return has_tag(name); };
    const auto cell = [&](const std::string& name) { return has_cell(name); };
    const auto prompt = [&](const std::string& name) { return has_prompt(name); };
    for (const Tier& tier : policy_.tiers)
      tell_of_unknown("tier " + tier.name, "tag", tier.tags, tag);
    for (const Rule& rule : policy_.rules) {
      tell_of_unknown(rule.id, "tag", rule.where.tags, tag);
      tell_of_unknown(rule.id, "cell", rule.where.cells, cell);
      tell_of_unknown(rule.id, "prompt", rule.where.prompts, prompt);
    }
  }

  // A slip in the name of a cell or a prompt: the override would be missed when it is needed.
  bool names_nothing(const Override& o) const {
    const auto has_prompt = [&](const CellComparison& cell) {
      return o.prompt.empty() || std::ranges::any_of(cell.pairs, [&](const PairComparison& pair) {
               return matches(o.prompt, pair.request_id);
             });
    };
    return std::ranges::none_of(comparison_.cells, [&](const CellComparison& cell) {
      return (o.cell.empty() || matches(o.cell, cell.name)) && has_prompt(cell);
    });
  }

  static std::string scope_text(const Override& o) {
    std::string text = o.rule.empty() ? "what is found" : "what rule " + o.rule + " finds";
    if (!o.cell.empty()) text += " in cell " + o.cell;
    if (!o.prompt.empty()) text += " for prompt " + o.prompt;
    return text;
  }

  void keep(RuleResult result, GiveReasons give) {
    if (const Override* o = waivers_.of_rule(result.rule.id)) {
      result.let_through = o->reason;
      if (result.outcome != Outcome::kPass)
        reasons_.note(result.rule.id,
                      fmt::format("would be {}, and is let through", name(result.outcome)));
      result.outcome = Outcome::kPass;
    } else if (give == GiveReasons::yes && (!result.units.empty() || is_own(result.rule))) {
      give_reasons(result, reasons_);
    }
    verdict_.rules.push_back(std::move(result));
  }

  // A built-in rule that selects nothing has evidence reasons that say why.
  bool is_own(const Rule& rule) const {
    return std::any_of(policy_.rules.begin(), policy_.rules.end(),
                       [&](const Rule& own) { return own.id == rule.id; });
  }

  void level_rule_of_tier(const RunComparison& comparison, const Rule& rule, const TierList& tiers,
                          size_t tier, const char* prefix) {
    const Level level = tiers.tiers()[tier].level;
    RuleResult result = judge_rule(rule, comparison, waivers_, &tiers, tier);
    // What is missing is told by the evidence, cell by cell; what differs is told here.
    const bool statistical = level == Level::kStatistical;
    if (!statistical && waivers_.of_rule(rule.id) == nullptr)
      tell_of_differences(comparison, rule, tiers, tier, prefix);
    keep(std::move(result), statistical ? GiveReasons::yes : GiveReasons::no);
  }

  void tell_of_differences(const RunComparison& comparison, const Rule& rule, const TierList& tiers,
                           size_t tier, const char* prefix) {
    const Level level = tiers.tiers()[tier].level;
    for (const Selection& selection : select(rule, comparison, waivers_, &tiers, tier)) {
      const SelectedCell& cell = selection.cells.front();
      const bool any = std::any_of(cell.pairs.begin(), cell.pairs.end(), [&](const auto* pair) {
        return pair->sameness(level) == Sameness::kDifferent;
      });
      if (!any) continue;
      const std::string of_tier =
          tiers.divided() ? fmt::format("tier {}: ", tiers.tiers()[tier].name) : "";
      reasons_.add(Outcome::kFail, cell.cell->name,
                   of_tier + prefix + difference_text(cell, comparison, level),
                   {cell.cell->reference_name, tiers.tiers()[tier].name});
    }
  }

  const Policy& policy_;
  const RunComparison& comparison_;
  Waivers waivers_;
  TierList tiers_;
  ReasonList reasons_;
  Verdict verdict_;
};

// A rate is never printed bare: without failures the bound they allow, else the interval.
std::string match_text(const Proportion& match) {
  if (match.trials == 0) return "no prompt could be judged";
  const std::string rate =
      fmt::format("{} of {} match", match.matches, plural(match.trials, "prompt", "prompts"));
  if (match.matches == match.trials) {
    return rate + fmt::format(" (95 % bound: at most {:.1f} % of such prompts differ)",
                              100 * match.failure_bound95);
  }
  return rate + fmt::format(" (95 % interval: {:.1f} to {:.1f} %)", 100 * match.wilson95.low,
                            100 * match.wilson95.high);
}

// The rules of the levels themselves that are broken, rather than those that the policy adds.
std::vector<std::string> broken_level_rules(const Verdict& verdict) {
  const std::vector<std::string> built_in = built_in_rule_ids();
  std::vector<std::string> broken;
  for (const RuleResult& r : verdict.rules) {
    if (r.outcome == Outcome::kFail && std::ranges::find(built_in, r.rule.id) != built_in.end())
      broken.push_back(r.rule.id);
  }
  return broken;
}

bool is_about_noise(const std::string& rule_id) {
  return rule_id == level_rule(Level::kStatistical, Against::kBase).id ||
         rule_id == level_rule(Level::kStatistical, Against::kReference).id;
}

bool is_against_base(const std::string& level_rule_id) {
  const auto is = [&](const Rule& rule) { return rule.id == level_rule_id; };
  return is(suspicious_rule(Against::kBase)) ||
         is(level_rule(Level::kStatistical, Against::kBase)) ||
         is(level_rule(Level::kRequestReproducible, Against::kBase)) ||
         is(level_rule(Level::kBitwise, Against::kBase));
}

std::string fail_words(const Verdict& verdict, bool within) {
  const std::vector<std::string> broken = broken_level_rules(verdict);
  if (broken.empty()) {
    const bool any_rule = std::ranges::any_of(
        verdict.rules, [](const RuleResult& r) { return r.outcome == Outcome::kFail; });
    return any_rule ? "a rule of the policy does not hold"
                    : "something changed that the policy does not expect";
  }
  if (std::ranges::all_of(broken, is_about_noise))
    return within ? "answers differ more than the reference's own repeats do"
                  : "answers differ more than the base run's own repeats do";
  if (within) return "answers depend on how the target was loaded";
  const bool only_loaded =
      std::ranges::all_of(broken, [](const std::string& id) { return !is_against_base(id); });
  return only_loaded ? "the candidate's own answers depend on how it was loaded"
                     : "the candidate's answers differ";
}

std::string pass_words(const Verdict& verdict, bool within) {
  if (verdict.level == Level::kStatistical)
    return within ? "not demonstrably more differences than the reference's own repeats show"
                  : "not demonstrably more differences than the base run's own repeats show";
  return within ? "every cell gave the same answers" : "the candidate gives the base run's answers";
}

// Differences at the policy's level in a verdict that passes: who lets them through? Level 0 allows
// some by itself.
std::string let_through_by(const Verdict& verdict, const Proportion& match) {
  if (match.matches == match.trials || verdict.level == Level::kStatistical) return {};
  return verdict.policy.overrides.empty() ? "the policy's tiers let it through"
                                          : "overrides let it through";
}

std::string outcome_words(const RunComparison& comparison, const Verdict& verdict,
                          const Proportion& match) {
  const bool within = comparison.kind == ComparisonKind::kWithinRun;
  const std::string let_through = let_through_by(verdict, match);
  const bool passes = verdict.outcome == Outcome::kPass || verdict.outcome == Outcome::kWarn;
  if (passes && !let_through.empty())
    return "answers differ, and " + let_through +
           (verdict.outcome == Outcome::kWarn ? ", with warnings" : "");
  switch (verdict.outcome) {
    case Outcome::kPass:
      return pass_words(verdict, within);
    case Outcome::kWarn:
      return pass_words(verdict, within) + ", with warnings";
    case Outcome::kFail:
      return fail_words(verdict, within);
    case Outcome::kInconclusive:
      return "no failure seen, but evidence is missing";
    case Outcome::kIncomparable:
      return "the runs cannot be compared";
    case Outcome::kUnsupported:
      return "what was asked cannot be judged from what was recorded";
    case Outcome::kIncomplete:
      return "a run is incomplete";
  }
  return "unknown";
}

std::string upper(std::string word) {
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return word;
}

void finish(Verdict& verdict, const RunComparison& comparison) {
  const Proportion& match =
      verdict.level == Level::kBitwise ? comparison.bit_match : comparison.token_match;
  const std::string ready = level_policy(verdict.level).name;
  const std::string under = verdict.policy.name == ready ? "" : ", policy " + verdict.policy.name;
  verdict.sentence =
      fmt::format("{} at level {}{}: {}; {}", upper(name(verdict.outcome)), number(verdict.level),
                  under, outcome_words(comparison, verdict, match), match_text(match));
}

}  // namespace

Verdict gate(const RunComparison& comparison, const GateRequest& request) {
  const RunComparison* within = request.candidate_within;
  ISOBIT_REQUIRE(comparison.kind == ComparisonKind::kBetweenRuns);
  ISOBIT_REQUIRE(within == nullptr || within->kind == ComparisonKind::kWithinRun);
  const Policy policy = request.policy ? *request.policy : level_policy(request.level);
  refuse_expired(policy, request.today);
  Judge judge(policy, comparison);
  judge.between_runs(request);
  judge.level_rules(comparison, Against::kBase, "");
  judge.suspicious(comparison, Against::kBase);
  if (within != nullptr) {
    judge.level_rules(*within, Against::kReference, "within the candidate, ");
    judge.suspicious(*within, Against::kReference);
  }
  judge.own_rules(within);
  judge.tell_of_overrides();
  Verdict verdict = std::move(judge).verdict();
  finish(verdict, comparison);
  return verdict;
}

Verdict check_run(const RunComparison& comparison, Level level) {
  ISOBIT_REQUIRE(comparison.kind == ComparisonKind::kWithinRun);
  const Policy policy = level_policy(level);
  Judge judge(policy, comparison);
  judge.run_status();
  judge.evidence();
  judge.level_rules(comparison, Against::kReference, "");
  judge.suspicious(comparison, Against::kReference);
  Verdict verdict = std::move(judge).verdict();
  finish(verdict, comparison);
  return verdict;
}

}  // namespace isobit

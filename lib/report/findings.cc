#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/digest.h"
#include "gate/evidence.h"
#include "gate/metrics.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr const char* kRulePrefix = "rule/";

// The kinds of difference that one cell may show, and what else a verdict may rest on.
const std::array kKnownRules = {
    FindingRule{.id = "suspicious-flip",
                .summary = "A token differs although its margin is large.",
                .help = "Rounding tips near ties only. A flip at a large margin, the more so in "
                        "several requests together, may come from corrupted state: a stale cache "
                        "block, a wrong position, a lost request. Replay it with isobit replay and "
                        "look at its neighbours with isobit reduce."},
    FindingRule{.id = "sampling-flip",
                .summary = "Another token was drawn from the same logits.",
                .help = "The rows are the same bits, so the sampler chose otherwise: a seed that "
                        "is shared between requests, or a random stream that depends on load."},
    FindingRule{.id = "different-tokens",
                .summary = "Answers have other tokens.",
                .help = "The same request got another text. isobit explain shows both tails and "
                        "the first operator that differs; isobit bisect names the one setting or "
                        "fingerprint item that explains it."},
    FindingRule{.id = "different-ending",
                .summary = "Answers have the same tokens and end otherwise.",
                .help = "The finish reason differs: a limit or a stop rule was applied in one run "
                        "and not in the other."},
    FindingRule{.id = "different-bits",
                .summary = "Logits or logprobs differ in bits, the tokens are the same.",
                .help = "The arithmetic depends on load, schedule or software. Each such row may "
                        "flip a token on another prompt; level 2 asks for none."},
    FindingRule{.id = "difference",
                .summary = "Answers differ.",
                .help = "A difference that the gate saw outside the compared cells, for instance "
                        "between the candidate's own cells. isobit report CAND shows those."},
    FindingRule{.id = "missing-evidence",
                .summary = "Too little was recorded to judge by.",
                .help = "A cell did not happen, answers are missing, or samples are too few for "
                        "the policy. Missing evidence is never a pass: record again, or widen the "
                        "prompts."},
    FindingRule{.id = "incomparable",
                .summary = "The runs do not answer the same question.",
                .help = "A fingerprint item that must match differs, for instance the weights or "
                        "the prompts. Record the base again, or name the change in the policy."},
    FindingRule{.id = "unsupported",
                .summary = "What was recorded cannot answer what was asked.",
                .help =
                    "The target gave no logits hashes, logprobs or times that the level or a "
                    "rule needs. Ask for a lower level, or record from a target that has them."},
    FindingRule{.id = "incomplete-run",
                .summary = "A run stopped early.",
                .help = "isobit run --resume finishes it; nothing that was recorded is lost."},
    FindingRule{.id = "warning",
                .summary = "Something changed that the policy warns about.",
                .help = "Look at the fingerprint items that changed, and name those that are "
                        "expected in the policy."},
    FindingRule{.id = "note",
                .summary = "The policy lets something through, or only informs.",
                .help = "It decides nothing. An override says why it is there and until when it "
                        "holds; remove it once its reason is gone."}};

const FindingRule* known_rule(std::string_view id) {
  const auto* at = std::find_if(kKnownRules.begin(), kKnownRules.end(),
                                [&](const FindingRule& rule) { return rule.id == id; });
  return at == kKnownRules.end() ? nullptr : at;
}

const char* rule_of_reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::kIncomparable:
      return "incomparable";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kIncomplete:
      return "incomplete-run";
    case Outcome::kInconclusive:
      return "missing-evidence";
    case Outcome::kWarn:
    case Outcome::kPass:
      return "warning";
    case Outcome::kFail:
      return "difference";
  }
  return "difference";
}

const char* rule_of_pair(const PairComparison& pair) {
  if (pair.state != PairState::kCompared) return nullptr;
  if (pair.divergence.token) {
    if (pair.flip == FlipKind::kSuspicious) return "suspicious-flip";
    return pair.flip == FlipKind::kSampling ? "sampling-flip" : "different-tokens";
  }
  if (pair.divergence.numeric) return "different-bits";
  return pair.sameness(Level::kRequestReproducible) == Sameness::kDifferent ? "different-ending"
                                                                            : nullptr;
}

// A name in a message, so that what stands after it is not cut away with it.
std::string shown(const std::string& name) {
  return bounded_name(name, kNameInSentenceCharacters);
}

std::string pair_words(const PairComparison& pair) {
  std::string words = "request " + shown(pair.request_id);
  if (pair.sample_index > 0) words += fmt::format(", choice {}", pair.sample_index);
  if (pair.repeat > 0) words += fmt::format(", repeat {}", pair.repeat);
  const Divergence& d = pair.divergence;
  if (d.token || d.numeric)
    words += fmt::format(", at position {}", d.token ? d.token->position : d.numeric->position);
  return words;
}

std::string counterpart(const RunComparison& comparison, const CellComparison& cell) {
  if (comparison.kind == ComparisonKind::kBetweenRuns) return "the base run";
  return cell.is_reference ? "its own first repeat" : "cell " + shown(cell.reference_name);
}

// A rule whose breach the cells' differences tell in more detail.
bool told_by_cells(const RuleResult& result) {
  const std::vector<std::string> built_in = built_in_rule_ids();
  return std::find(built_in.begin(), built_in.end(), result.rule.id) != built_in.end() &&
         result.rule.metric != "noise_p_value";
}

class Collector {
 public:
  explicit Collector(const ReportInput& input) : input_(input) {}

  void cells() {
    for (const CellComparison& cell : input_.comparison.cells) {
      std::map<std::string, std::vector<const PairComparison*>> by_rule;
      for (const PairComparison& pair : cell.pairs) {
        if (const char* rule = rule_of_pair(pair)) by_rule[rule].push_back(&pair);
      }
      for (const auto& [rule, pairs] : by_rule) add_group(cell, rule, pairs);
    }
  }

  void rules() {
    for (const RuleResult& result : input_.verdict.rules) {
      if (told_by_cells(result)) continue;
      for (const RuleUnit& unit : result.units) {
        if (!unit.holds && result.let_through.empty()) add_unit(result, unit);
      }
      if (!result.units.empty()) told_.insert(result.rule.id);
    }
  }

  void reasons() {
    for (const Reason& reason : input_.verdict.reasons) {
      const bool told = told_.contains(reason.subject) ||
                        (reason.outcome == Outcome::kFail && failed_.contains(reason.subject));
      if (!told)
        add(rule_of_reason(reason.outcome), reason.outcome, reason.subject,
            shown(reason.subject) + ": " + bounded_sentence(reason.text, reason.names));
    }
  }

  void notes() {
    for (const Reason& note : input_.verdict.notes)
      add("note", Outcome::kPass, note.subject,
          shown(note.subject) + ": " + bounded_sentence(note.text, note.names));
  }

  Findings finish() && {
    std::stable_sort(out_.list.begin(), out_.list.end(), [](const Finding& a, const Finding& b) {
      return precedence(a.outcome) > precedence(b.outcome);
    });
    if (out_.list.size() > kMaxFindings) {
      out_.n_left_out = out_.list.size() - kMaxFindings;
      out_.list.resize(kMaxFindings);
    }
    return std::move(out_);
  }

 private:
  void add_group(const CellComparison& cell, const std::string& rule,
                 const std::vector<const PairComparison*>& pairs) {
    const bool fails = decides(cell, rule);
    if (fails) failed_.insert(cell.name);
    add(rule, fails ? Outcome::kFail : Outcome::kPass, cell.name,
        fmt::format("{}: {} of {} against {}, the first {}. {}", shown(cell.name), pairs.size(),
                    plural(static_cast<int64_t>(cell.pairs.size()), "answer", "answers"),
                    counterpart(input_.comparison, cell), pair_words(*pairs.front()),
                    known_rule(rule)->summary));
  }

  // Whether a failure of the verdict names this cell, and its level asks about such a difference.
  bool decides(const CellComparison& cell, const std::string& rule) const {
    const bool named = std::ranges::any_of(input_.verdict.reasons, [&](const Reason& reason) {
      return reason.outcome == Outcome::kFail && reason.subject == cell.name;
    });
    if (rule == "suspicious-flip") return named || suspicious_fail();
    return named && (rule != "different-bits" || asks_for_bits());
  }

  bool suspicious_fail() const {
    return std::ranges::any_of(input_.verdict.rules, [](const RuleResult& result) {
      return result.rule.metric == "suspicious_flips" && result.outcome == Outcome::kFail;
    });
  }

  bool asks_for_bits() const {
    return input_.verdict.level == Level::kBitwise ||
           std::ranges::any_of(input_.verdict.policy.tiers,
                               [](const Tier& tier) { return tier.level == Level::kBitwise; });
  }

  void add_unit(const RuleResult& result, const RuleUnit& unit) {
    const Rule& rule = result.rule;
    const std::string text =
        shown(rule.id) + ": " + bounded_sentence(breach_text(rule, unit), names_in(unit));
    const std::string subject = unit.unit + (result.tier.empty() ? "" : ", tier " + result.tier);
    add(kRulePrefix + rule.id, unit.outcome, subject, text);
  }

  void add(const std::string& rule, Outcome outcome, const std::string& subject,
           std::string message) {
    out_.list.push_back({.rule_index = index_of(rule),
                         .outcome = outcome,
                         .subject = subject,
                         .message = std::move(message),
                         .fingerprint = fingerprint(rule, subject)});
  }

  // Nothing that changes from one recording to the next: no counts, positions or run ids. What
  // would be the same twice is numbered.
  std::string fingerprint(const std::string& rule, const std::string& subject) {
    const RunComparison& comparison = input_.comparison;
    const std::string stable = subject == comparison.candidate.id ? "candidate run"
                               : subject == comparison.base.id    ? "base run"
                                                                  : subject;
    Sha256 digest;
    digest.update_framed("isobit finding 1").update_framed(rule).update_framed(stable);
    digest.update_framed(input_.location);
    const std::string first = hex(digest.finish());
    const int n = ++times_[first];
    return n == 1 ? first : sha256_hex(first + std::to_string(n));
  }

  size_t index_of(const std::string& id) {
    for (size_t i = 0; i < out_.rules.size(); ++i) {
      if (out_.rules[i].id == id) return i;
    }
    const FindingRule* known = known_rule(id);
    out_.rules.push_back(known != nullptr ? *known : rule_of_policy(id));
    return out_.rules.size() - 1;
  }

  FindingRule rule_of_policy(const std::string& id) const {
    FindingRule out{.id = id, .summary = "A rule of the policy.", .help = {}};
    for (const RuleResult& result : input_.verdict.rules) {
      if (kRulePrefix + result.rule.id != id) continue;
      const Metric* metric = find_metric(result.rule.metric);
      out.summary = fmt::format("{}: {}.", result.rule.metric, limit_text(result.rule));
      out.help = fmt::format("The policy {} asks for it. {}: {}", shown(input_.verdict.policy.name),
                             metric->name, metric->meaning);
    }
    return out;
  }

  const ReportInput& input_;
  Findings out_;
  std::set<std::string> failed_;  // cells whose failure a group tells
  std::set<std::string> told_;    // rules whose reasons their units tell
  std::map<std::string, int> times_;
};

}  // namespace

Findings findings_of(const ReportInput& input) {
  Collector collector(input);
  collector.cells();
  collector.rules();
  collector.reasons();
  collector.notes();
  return std::move(collector).finish();
}

Weight weight_of(Outcome outcome) {
  if (outcome == Outcome::kPass) return Weight::kNote;
  return outcome == Outcome::kWarn ? Weight::kWarning : Weight::kError;
}

}  // namespace isobit

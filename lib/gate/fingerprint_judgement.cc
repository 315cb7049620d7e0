#include "gate/fingerprint_judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compare/request_differences.h"

namespace isobit {
namespace {

struct ItemValue {
  bool known = false;
  std::string text;
};

ItemValue item_value(const Fingerprint& fingerprint, const MustMatch& item) {
  const auto at = std::find_if(fingerprint.items.begin(), fingerprint.items.end(),
                               [&](const FingerprintItem& i) {
                                 return i.item_class == item.item_class && i.name == item.name;
                               });
  if (at == fingerprint.items.end()) return {.text = "not recorded"};
  if (at->source == FingerprintSource::kUnknown)
    return {.text = at->reason.empty() ? "unknown" : "unknown (" + at->reason + ")"};
  return {.known = true, .text = at->value};
}

std::string full_name(FingerprintClass item_class, const std::string& name_in_class) {
  return std::string(name(item_class)) + "." + name_in_class;
}

std::vector<std::string> item_names(const RunComparison& comparison) {
  std::vector<std::string> names;
  for (const Fingerprint* f : {&comparison.base.fingerprint, &comparison.candidate.fingerprint}) {
    for (const FingerprintItem& item : f->items)
      names.push_back(full_name(item.item_class, item.name));
  }
  return names;
}

void judge_item(const RunComparison& comparison, const MustMatch& item, ReasonList& reasons) {
  const ItemValue base = item_value(comparison.base.fingerprint, item);
  const ItemValue candidate = item_value(comparison.candidate.fingerprint, item);
  const std::string subject = full_name(item.item_class, item.name);
  const std::string what = item.what.empty() ? "this item" : item.what;
  const std::string values = fmt::format("base {}, candidate {}", base.text, candidate.text);
  if (base.known != candidate.known || (base.known && base.text != candidate.text)) {
    reasons.add(Outcome::kIncomparable, subject,
                fmt::format("{} must be the same: {}", what, values), {base.text, candidate.text});
  } else if (!base.known && !item.may_be_absent) {
    const std::vector<std::string> names = item_names(comparison);
    const bool recorded = std::find(names.begin(), names.end(), subject) != names.end();
    // An item that no run has is likelier a slip in the policy than something the target hides.
    reasons.add(recorded ? Outcome::kWarn : Outcome::kInconclusive, subject,
                fmt::format("{} could not be verified to be the same: {}{}", what, values,
                            recorded ? "" : did_you_mean(subject, names)),
                {base.text, candidate.text});
  }
}

void judge_prompts(const RunComparison& comparison, ReasonList& reasons) {
  const std::string& base = comparison.base.prompts_digest;
  const std::string& candidate = comparison.candidate.prompts_digest;
  if (base == candidate && !base.empty()) return;
  const auto shown = [](const std::string& digest) {
    return digest.empty() ? std::string("not recorded") : digest;
  };
  reasons.add(
      Outcome::kIncomparable, "prompts",
      fmt::format("the prompts and their parameters must be the same: base {}, candidate {}{}",
                  shown(base), shown(candidate), in_parentheses(comparison.request_differences)));
}

bool any_names(const std::vector<std::string>& patterns, const std::string& item) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, item); });
}

void judge_unexpected(const ChangeNote& note, Severity severity, ReasonList& reasons) {
  if (severity == Severity::kInfo) return;
  const std::string base = note.change.base.value_or("unknown");
  const std::string candidate = note.change.candidate.value_or("unknown");
  reasons.add(severity == Severity::kFail ? Outcome::kFail : Outcome::kWarn,
              full_name(note.change.item_class, note.change.name),
              fmt::format("changed, and the policy does not expect it: base {}, candidate {}", base,
                          candidate),
              {base, candidate});
}

void judge_expected(const RunComparison& comparison, const std::vector<std::string>& expected,
                    ReasonList& reasons) {
  for (const std::string& pattern : expected) {
    const bool changed =
        std::any_of(comparison.fingerprint_changes.begin(), comparison.fingerprint_changes.end(),
                    [&](const FingerprintChange& c) {
                      return matches(pattern, full_name(c.item_class, c.name));
                    });
    if (changed) continue;
    const std::vector<std::string> names = item_names(comparison);
    const bool recorded = std::any_of(names.begin(), names.end(), [&](const std::string& item) {
      return matches(pattern, item);
    });
    reasons.add(Outcome::kWarn, pattern,
                recorded ? "was expected to change and did not: is this the run that was meant?"
                         : "was expected to change, but neither fingerprint has such an item" +
                               did_you_mean(pattern, names));
  }
}

}  // namespace

const char* name(Expectation expectation) {
  switch (expectation) {
    case Expectation::kExpected:
      return "expected";
    case Expectation::kAllowed:
      return "allowed";
    case Expectation::kUnexpected:
      return "unexpected";
  }
  return "unknown";
}

void judge_must_match(const RunComparison& comparison, const Policy& policy, ReasonList& reasons) {
  for (const MustMatch& item : policy.must_match) judge_item(comparison, item, reasons);
  if (policy.same_prompts) judge_prompts(comparison, reasons);
}

std::vector<ChangeNote> judge_changes(const RunComparison& comparison,
                                      const ExpectedChanges& expected, const EffectOf& effect_of,
                                      ReasonList& reasons) {
  std::vector<ChangeNote> notes;
  for (const FingerprintChange& change : comparison.fingerprint_changes) {
    const std::string item = full_name(change.item_class, change.name);
    ChangeNote note{.change = change,
                    .effect = effect_of ? effect_of(change.item_class, change.name) : ""};
    if (any_names(expected.expected, item)) {
      note.expectation = Expectation::kExpected;
    } else if (any_names(expected.allowed, item)) {
      note.expectation = Expectation::kAllowed;
    } else {
      judge_unexpected(note, expected.unexpected, reasons);
    }
    notes.push_back(std::move(note));
  }
  judge_expected(comparison, expected.expected, reasons);
  return notes;
}

}  // namespace isobit

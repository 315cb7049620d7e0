#include "gate/policy.h"

#include <fmt/format.h>

#include "base/error.h"

namespace isobit {
namespace {

// The names under which lib/fingerprint records what must match. The prompts' digest is the run's
// own.
const std::vector<MustMatch> kDefaultMustMatch = {
    {.item_class = FingerprintClass::kModel, .name = "weights.stored_root", .what = "the weights"},
    {.item_class = FingerprintClass::kText,
     .name = "tokenizer",
     .what = "the tokenizer",
     .may_be_absent = true},
    {.item_class = FingerprintClass::kText,
     .name = "chat_template",
     .what = "the chat template",
     .may_be_absent = true},
};

constexpr double kSignificance = 0.05;

std::string rule_id(const char* id, Against against) {
  return against == Against::kBase ? id : std::string(id) + "-loaded";
}

Rule no_difference(const char* id, const char* metric, Against against) {
  Rule rule;
  rule.id = rule_id(id, against);
  rule.metric = metric;
  rule.scope = Scope::kCell;
  rule.against = against;
  rule.max = 0;
  return rule;
}

Rule within_noise(Against against) {
  Rule rule;
  rule.id = rule_id("within-noise", against);
  rule.metric = "noise_p_value";
  rule.against = against;
  rule.min = kSignificance;
  return rule;
}

}  // namespace

const std::vector<MustMatch>& default_must_match() {
  return kDefaultMustMatch;
}

const char* name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarn:
      return "warn";
    case Severity::kFail:
      return "fail";
  }
  return "unknown";
}

const char* name(Scope scope) {
  switch (scope) {
    case Scope::kRun:
      return "run";
    case Scope::kCell:
      return "cell";
    case Scope::kAxis:
      return "axis";
    case Scope::kTag:
      return "tag";
    case Scope::kPrompt:
      return "prompt";
  }
  return "unknown";
}

const char* name(Against against) {
  return against == Against::kBase ? "base" : "reference";
}

const char* name(Confidence confidence) {
  return confidence == Confidence::kPoint ? "point" : "bound";
}

Policy level_policy(Level level) {
  Policy policy;
  policy.name = "level-" + std::to_string(number(level));
  policy.level = level;
  return policy;
}

Rule level_rule(Level level, Against against) {
  switch (level) {
    case Level::kStatistical:
      return within_noise(against);
    case Level::kRequestReproducible:
      return no_difference("same-tokens", "token_mismatch_rate", against);
    case Level::kBitwise:
      return no_difference("same-bits", "bit_mismatch_rate", against);
  }
  return {};
}

Rule suspicious_rule(Against against) {
  return no_difference("suspicious-flips", "suspicious_flips", against);
}

std::vector<std::string> built_in_rule_ids() {
  std::vector<std::string> ids;
  for (const Against against : {Against::kBase, Against::kReference}) {
    for (const Level level : {Level::kStatistical, Level::kRequestReproducible, Level::kBitwise})
      ids.push_back(level_rule(level, against).id);
    ids.push_back(suspicious_rule(against).id);
  }
  return ids;
}

void refuse_expired(const Policy& policy, const Date& today) {
  for (const Override& o : policy.overrides) {
    if (o.expires >= today) continue;
    throw Error(ErrorCode::usage,
                fmt::format("{}: the override \"{}\" expired on {} (today is {})", o.where,
                            o.reason, date_text(o.expires), date_text(today)),
                "decide again: remove it, or set a later date; --now gates as of another day");
  }
}

bool matches(const std::string& pattern, const std::string& text) {
  // Greedy with one point to return to: linear in practice, and never exponential.
  size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace isobit

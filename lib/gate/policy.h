// A policy: what a team asks of a candidate before it may ship. Plain data; read from a file by
// policy_file.h, applied by verdict.h.
//
// A level brings its own rules (level_rule), so that no policy of level 1 can forget to ask for
// the same tokens. A policy's own rules come on top. What is to be let through is named by an
// override, with a reason and a date.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/level.h"
#include "gate/date.h"
#include "record/fingerprint_items.h"

namespace isobit {

// A fingerprint item that base and candidate must share, for their answers to be comparable at all.
struct MustMatch {
  FingerprintClass item_class = FingerprintClass::kModel;
  std::string name;
  std::string what;  // in words: "the weights"; empty: the item's name says it
  // Unknown on both sides is fine: raw token ids need neither tokenizer nor template, and the
  // prompts' digest covers the ids.
  bool may_be_absent = false;
};
const std::vector<MustMatch>& default_must_match();

enum class Severity { kInfo, kWarn, kFail };
const char* name(Severity severity);

// Items by name, "software.openblas", or by the beginning of names, "hardware.*".
struct ExpectedChanges {
  std::vector<std::string> expected;  // each must have changed, else a warning
  std::vector<std::string> allowed;
  Severity unexpected = Severity::kInfo;  // of a change that neither list names
};

enum class Scope { kRun, kCell, kAxis, kTag, kPrompt };
const char* name(Scope scope);

// What the candidate's answers are held against.
enum class Against {
  kBase,       // the base run
  kReference,  // the candidate's own reference cell
};
const char* name(Against against);

// What has to keep to the limit.
enum class Confidence {
  kPoint,  // the figure itself
  kBound,  // the figure and its one-sided 95 % bound: too few samples are inconclusive
};
const char* name(Confidence confidence);

// Which pairs a rule looks at. Names may hold "*" for any characters. An empty list: all.
struct Selectors {
  std::vector<std::string> cells;
  std::map<std::string, std::vector<std::string>> axes;  // axis -> its values
  std::vector<std::string> tags;
  std::vector<std::string> prompts;  // request ids
};

struct Rule {
  std::string id;
  std::string metric;
  Scope scope = Scope::kRun;
  Against against = Against::kBase;
  Selectors where;
  std::optional<double> min = {};
  std::optional<double> max = {};
  Severity severity = Severity::kFail;
  Confidence confidence = Confidence::kPoint;
};

struct Coverage {
  int64_t min_prompts = 0;         // judged: with a compared pair
  int64_t min_samples = 0;         // compared pairs
  std::vector<std::string> cells;  // each names at least one cell that was exercised; "*" as above
};

// Lets through what the named rule finds in the named cell for the named prompt; "" names all, and
// at least one is named.
struct Override {
  std::string rule, cell, prompt;
  std::string reason;
  Date expires;       // the last day on which it holds
  std::string where;  // the file, line and column, for messages
};

// Requests by tag; the first tier that names one of a request's tags takes it. A tier without tags
// takes every request that is left.
struct Tier {
  std::string name;
  std::vector<std::string> tags;
  Level level = Level::kRequestReproducible;
};

struct Policy {
  std::string name;
  std::string description;
  Level level = Level::kRequestReproducible;  // of requests in no tier
  std::vector<MustMatch> must_match = default_must_match();
  bool same_prompts = true;  // "prompts" among the must-match items
  ExpectedChanges changes;
  std::vector<Rule> rules;
  Coverage coverage;
  std::vector<Override> overrides;
  std::vector<Tier> tiers;
};

// "level-0", "level-1", "level-2": nothing but the level.
Policy level_policy(Level level);

// The rule that a level brings. Level 0 has one against the reference cell too, for a run that is
// judged by itself; between runs it asks only about the base.
Rule level_rule(Level level, Against against);
// In every policy: a suspicious flip may be corrupted state, and no level allows for that.
Rule suspicious_rule(Against against);
// Whatever the level: the ids that overrides may name beside a policy's own.
std::vector<std::string> built_in_rule_ids();

// Throws Error(usage) naming the first override that holds no longer.
void refuse_expired(const Policy& policy, const Date& today);

// Does `pattern`, where "*" stands for any characters, name all of `text`?
bool matches(const std::string& pattern, const std::string& text);

}  // namespace isobit

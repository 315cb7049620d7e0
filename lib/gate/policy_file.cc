#include "gate/policy_file.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "gate/metrics.h"
#include "gate/policy_object.h"

namespace isobit {
namespace {

using Words = std::vector<std::string>;

const Words kPolicyKeys = {"$schema",          "name",  "description", "level",     "must_match",
                           "expected_changes", "rules", "coverage",    "overrides", "tiers"};
const Words kRuleKeys = {"id",  "metric", "scope",    "against",   "where",
                         "min", "max",    "severity", "confidence"};
const Words kSeverities = {"info", "warn", "fail"};
const Words kScopes = {"run", "cell", "axis", "tag", "prompt"};
constexpr const char* kPrompts = "prompts";

const Words& class_names() {
  static const Words names = [] {
    Words out;
    for (int i = 0; i <= static_cast<int>(FingerprintClass::kEnvironment); ++i)
      out.emplace_back(name(static_cast<FingerprintClass>(i)));
    return out;
  }();
  return names;
}

struct ItemName {
  FingerprintClass item_class = FingerprintClass::kModel;
  std::string name;
};

// "model.weights.stored_root". `what` empty: it is one; else why not.
ItemName item_name(const std::string& full, std::string& what) {
  const size_t dot = full.find('.');
  const std::string in_class = full.substr(0, dot);
  const auto at = std::find(class_names().begin(), class_names().end(), in_class);
  if (at == class_names().end()) {
    what = "\"" + full.substr(0, 60) + "\" does not begin with a class of the fingerprint" +
           did_you_mean(in_class, class_names());
  } else if (dot == std::string::npos || dot + 1 == full.size()) {
    what = "\"" + full.substr(0, 60) + "\" names no item of its class";
  }
  if (!what.empty()) return {};
  return {static_cast<FingerprintClass>(at - class_names().begin()), full.substr(dot + 1)};
}

Level read_level(const PolicyObject& object, Level otherwise) {
  if (!object.has("level")) return otherwise;
  const auto number = object.number("level");
  for (const Level level : {Level::kStatistical, Level::kRequestReproducible, Level::kBitwise}) {
    if (*number == static_cast<double>(isobit::number(level))) return level;
  }
  object.refuse("level", "the level is 0 (statistical), 1 (same tokens) or 2 (same bits)");
}

MustMatch known_match(const ItemName& item) {
  for (const MustMatch& known : default_must_match()) {
    if (known.item_class == item.item_class && known.name == item.name) return known;
  }
  MustMatch match;
  match.item_class = item.item_class;
  match.name = item.name;
  return match;
}

void read_must_match(const PolicyObject& root, Policy& policy) {
  if (!root.has("must_match")) return;
  policy.must_match.clear();
  policy.same_prompts = false;
  const Words items = root.texts("must_match");
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] == kPrompts) {
      policy.same_prompts = true;
      continue;
    }
    std::string what;
    const ItemName item = item_name(items[i], what);
    Words known = {kPrompts};
    for (const MustMatch& m : default_must_match())
      known.push_back(std::string(name(m.item_class)) + "." + m.name);
    if (what.empty() && items[i].find('*') != std::string::npos)
      what = "\"" + items[i].substr(0, 60) + "\" is a pattern; must_match takes whole names";
    if (!what.empty()) root.refuse_item("must_match", i, what + did_you_mean(items[i], known));
    policy.must_match.push_back(known_match(item));
  }
}

Words read_patterns(const PolicyObject& object, const char* key) {
  Words patterns = object.texts(key);
  for (size_t i = 0; i < patterns.size(); ++i) {
    std::string what;
    item_name(patterns[i], what);
    if (!what.empty() && patterns[i] != "*") object.refuse_item(key, i, what);
  }
  return patterns;
}

ExpectedChanges read_changes(const PolicyObject& root) {
  ExpectedChanges changes;
  if (!root.has("expected_changes")) return changes;
  const PolicyObject object =
      root.object("expected_changes", {"expected", "allowed", "unexpected"});
  changes.expected = read_patterns(object, "expected");
  changes.allowed = read_patterns(object, "allowed");
  changes.unexpected = static_cast<Severity>(object.word("unexpected", kSeverities, 0));
  return changes;
}

Selectors read_selectors(const PolicyObject& rule) {
  Selectors where;
  if (!rule.has("where")) return where;
  const PolicyObject object = rule.object("where", {"cells", "axes", "tags", "prompts"});
  where.cells = object.texts("cells");
  where.tags = object.texts("tags");
  where.prompts = object.texts("prompts");
  if (object.has("axes")) {
    if (!object.value("axes").is_object()) object.refuse("axes", "expected an object");
    Words keys;
    for (const auto& [key, value] : object.value("axes").items()) keys.push_back(key);
    const PolicyObject axes = object.object("axes", keys);
    for (const std::string& axis : keys) where.axes[axis] = axes.texts(axis.c_str());
  }
  return where;
}

const Metric& read_metric(const PolicyObject& object) {
  const std::string metric_name = object.required_text("metric");
  const Metric* metric = find_metric(metric_name);
  if (metric == nullptr)
    object.refuse("metric", "unknown metric \"" + metric_name.substr(0, 60) + "\"" +
                                did_you_mean(metric_name, metric_names()) +
                                "; isobit policy metrics lists them");
  return *metric;
}

void check_rule(const PolicyObject& object, const Metric& metric, const Rule& rule) {
  if (std::find(metric.scopes.begin(), metric.scopes.end(), rule.scope) == metric.scopes.end()) {
    Words scopes;
    for (const Scope scope : metric.scopes) scopes.emplace_back(name(scope));
    std::string known;
    for (const std::string& s : scopes) known += (known.empty() ? "" : ", ") + s;
    object.refuse("scope", "metric " + rule.metric + " has no scope \"" + name(rule.scope) +
                               "\", only " + known);
  }
  if (metric.of_whole_cells && !(rule.where.tags.empty() && rule.where.prompts.empty()))
    object.refuse("where", "metric " + rule.metric +
                               " is of whole cells: neither tags nor prompts "
                               "can narrow it");
  if (is_of_whole_run(metric) && object.has("where"))
    object.refuse("where", "metric " + rule.metric + " is of the whole run: nothing can narrow it");
  if (!rule.min && !rule.max) object.refuse("min", "a rule needs \"min\" or \"max\"");
  if (rule.min && rule.max && *rule.min > *rule.max)
    object.refuse("min", "\"min\" is greater than \"max\"");
  if (rule.confidence == Confidence::kBound && !metric.has_bound)
    object.refuse("confidence", "metric " + rule.metric + " has no 95 % bound");
  for (const auto& [key, bound] : {std::pair("min", rule.min), std::pair("max", rule.max)}) {
    if (std::string(metric.unit) == "share" && bound && *bound > 1)
      object.refuse(key, "a share is a number from 0 to 1: 0.05 is 5 %");
  }
}

Rule read_rule(const PolicyObject& object, size_t index) {
  Rule rule;
  const Metric& metric = read_metric(object);
  rule.metric = metric.name;
  rule.id = object.text("id", "rule-" + std::to_string(index + 1));
  if (rule.id.empty()) object.refuse("id", "\"id\" is empty");
  rule.scope = static_cast<Scope>(object.word("scope", kScopes, 0));
  rule.against = static_cast<Against>(object.word("against", {"base", "reference"}, 0));
  rule.where = read_selectors(object);
  rule.min = object.number("min");
  rule.max = object.number("max");
  rule.severity = static_cast<Severity>(object.word("severity", kSeverities, 2));
  rule.confidence = static_cast<Confidence>(object.word("confidence", {"point", "bound"}, 0));
  check_rule(object, metric, rule);
  return rule;
}

void read_rules(const PolicyObject& root, Policy& policy) {
  std::set<std::string> ids;
  for (const std::string& id : built_in_rule_ids()) ids.insert(id);
  const std::vector<PolicyObject> rules = root.objects("rules", kRuleKeys);
  for (size_t i = 0; i < rules.size(); ++i) {
    policy.rules.push_back(read_rule(rules[i], i));
    if (!ids.insert(policy.rules.back().id).second)
      rules[i].refuse("id", "another rule has the id \"" + policy.rules.back().id + "\"");
  }
}

Coverage read_coverage(const PolicyObject& root) {
  Coverage coverage;
  if (!root.has("coverage")) return coverage;
  const PolicyObject object = root.object("coverage", {"min_prompts", "min_samples", "cells"});
  coverage.min_prompts = object.count("min_prompts");
  coverage.min_samples = object.count("min_samples");
  coverage.cells = object.texts("cells");
  return coverage;
}

Override read_override(const PolicyObject& object, const Words& rule_ids) {
  Override o;
  o.rule = object.text("rule");
  o.cell = object.text("cell");
  o.prompt = object.text("prompt");
  if (o.rule.empty() && o.cell.empty() && o.prompt.empty())
    object.refuse("rule", "an override names a rule, a cell or a prompt");
  if (!o.rule.empty() && std::find(rule_ids.begin(), rule_ids.end(), o.rule) == rule_ids.end())
    object.refuse("rule", "no rule has the id \"" + o.rule.substr(0, 60) + "\"" +
                              did_you_mean(o.rule, rule_ids));
  o.reason = object.required_text("reason");
  const std::string expires = object.required_text("expires");
  const auto date = parse_date(expires);
  if (!date || expires.size() != 10)
    object.refuse("expires", "\"" + expires.substr(0, 60) + "\" is not a day such as 2026-12-31");
  o.expires = *date;
  return o;
}

void read_overrides(const PolicyObject& root, Policy& policy) {
  Words ids = built_in_rule_ids();
  for (const Rule& rule : policy.rules) ids.push_back(rule.id);
  const std::vector<std::string> places = root.places("overrides");
  for (const PolicyObject& object :
       root.objects("overrides", {"rule", "cell", "prompt", "reason", "expires"})) {
    Override o = read_override(object, ids);
    if (policy.overrides.size() < places.size()) o.where = places[policy.overrides.size()];
    policy.overrides.push_back(std::move(o));
  }
}

void read_tiers(const PolicyObject& root, Policy& policy) {
  bool takes_the_rest = false;
  for (const PolicyObject& object : root.objects("tiers", {"name", "tags", "level"})) {
    Tier tier;
    tier.name = object.required_text("name");
    tier.tags = object.texts("tags");
    tier.level = read_level(object, policy.level);
    if (takes_the_rest)
      object.refuse("name",
                    "no request is left for this tier: the one before has no tags and "
                    "takes them all");
    takes_the_rest = tier.tags.empty();
    for (const Tier& other : policy.tiers) {
      if (other.name == tier.name) object.refuse("name", "another tier is called so");
    }
    policy.tiers.push_back(std::move(tier));
  }
}

Policy read_policy_object(const PolicyObject& root) {
  Policy policy;
  root.text("$schema");
  policy.name = root.required_text("name");
  policy.description = root.text("description");
  if (!root.has("level")) root.refuse("level", "needs \"level\": 0, 1 or 2");
  policy.level = read_level(root, policy.level);
  read_must_match(root, policy);
  policy.changes = read_changes(root);
  read_rules(root, policy);
  policy.coverage = read_coverage(root);
  read_overrides(root, policy);
  read_tiers(root, policy);
  return policy;
}

Json rule_to_json(const Rule& rule) {
  Json where = Json::object();
  if (!rule.where.cells.empty()) where["cells"] = rule.where.cells;
  for (const auto& [axis, values] : rule.where.axes) where["axes"][axis] = values;
  if (!rule.where.tags.empty()) where["tags"] = rule.where.tags;
  if (!rule.where.prompts.empty()) where["prompts"] = rule.where.prompts;
  Json out = {{"id", rule.id},
              {"metric", rule.metric},
              {"scope", name(rule.scope)},
              {"against", name(rule.against)}};
  if (!where.empty()) out["where"] = std::move(where);
  if (rule.min) out["min"] = *rule.min;
  if (rule.max) out["max"] = *rule.max;
  out["severity"] = name(rule.severity);
  out["confidence"] = name(rule.confidence);
  return out;
}

Json override_to_json(const Override& o) {
  Json out = Json::object();
  if (!o.rule.empty()) out["rule"] = o.rule;
  if (!o.cell.empty()) out["cell"] = o.cell;
  if (!o.prompt.empty()) out["prompt"] = o.prompt;
  out["reason"] = o.reason;
  out["expires"] = date_text(o.expires);
  return out;
}

Json must_match_to_json(const Policy& policy) {
  Json out = Json::array();
  for (const MustMatch& item : policy.must_match)
    out.push_back(std::string(name(item.item_class)) + "." + item.name);
  if (policy.same_prompts) out.push_back(kPrompts);
  return out;
}

}  // namespace

Policy read_policy(std::string_view text, const std::string& where) {
  const Json root = parse_json(text, where, {.max_depth = 16, .comments = JsonComments::allowed});
  const PolicyText file{.text = text, .where = where};
  return read_policy_object(PolicyObject(file, root, "", kPolicyKeys));
}

Json policy_to_json(const Policy& policy) {
  Json out = {{"name", policy.name}};
  if (!policy.description.empty()) out["description"] = policy.description;
  out["level"] = number(policy.level);
  out["must_match"] = must_match_to_json(policy);
  out["expected_changes"] = {{"expected", policy.changes.expected},
                             {"allowed", policy.changes.allowed},
                             {"unexpected", name(policy.changes.unexpected)}};
  out["rules"] = Json::array();
  for (const Rule& rule : policy.rules) out["rules"].push_back(rule_to_json(rule));
  out["coverage"] = {{"min_prompts", policy.coverage.min_prompts},
                     {"min_samples", policy.coverage.min_samples},
                     {"cells", policy.coverage.cells}};
  out["overrides"] = Json::array();
  for (const Override& o : policy.overrides) out["overrides"].push_back(override_to_json(o));
  out["tiers"] = Json::array();
  for (const Tier& tier : policy.tiers)
    out["tiers"].push_back(
        {{"name", tier.name}, {"tags", tier.tags}, {"level", number(tier.level)}});
  return out;
}

Policy ready_policy(const std::string& name) {
  Words names;
  for (const ReadyPolicy& ready : ready_policies()) {
    if (ready.name == name) return read_policy(ready.text, "ready policy " + name);
    names.push_back(ready.name);
  }
  throw Error(ErrorCode::usage,
              "there is no ready policy '" + name + "'" + did_you_mean(name, names),
              "isobit policy list shows them; a file is named by its path");
}

}  // namespace isobit

#include "statement/verdict_inside.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/json_members.h"
#include "gate/policy_file.h"
#include "report/untrusted_text.h"
#include "statement/rules_inside.h"
#include "statement/test_result.h"

namespace isobit {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what,
              "the statement was damaged, or another version of isobit wrote it");
}

Json parse(const std::string& text, const std::string& where) {
  try {
    return parse_json(text, where, {.max_depth = 64});
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(), "the statement was damaged");
  }
}

const Json& member(const Json& object, const char* key, Json::value_t type,
                   const std::string& where) {
  if (!object.is_object() || !object.contains(key) || object[key].type() != type)
    refuse(where, std::string("\"") + key + "\" is missing, or of another type");
  return object[key];
}

std::string text_of(const Json& object, const char* key, const std::string& where) {
  return member(object, key, Json::value_t::string, where).get<std::string>();
}

Outcome outcome_of(const Json& object, const std::string& where) {
  const std::string word = text_of(object, "outcome", where);
  for (int i = 0; i <= static_cast<int>(Outcome::kIncomplete); ++i) {
    if (word == name(static_cast<Outcome>(i))) return static_cast<Outcome>(i);
  }
  refuse(where, "the outcome '" + word.substr(0, 40) + "' is unknown");
}

int level_of(const Json& object, const std::string& where) {
  if (!object.is_object() || !object.contains("level") || !is_int32(object["level"], 0))
    refuse(where, "\"level\" is missing, or no level");
  return object["level"].get<int>();
}

std::string rule_name(const std::string& tier, const std::string& rule) {
  return json_text(tier.empty() ? rule : tier + "/" + rule);
}

VerdictFacts read_facts(const Json& verdict, const std::string& where) {
  if (text_of(verdict, "format", where) != "isobit.verdict" ||
      verdict.value("version", Json()) != 1)
    refuse(where, "is no isobit.verdict of version 1");
  VerdictFacts out{.outcome = outcome_of(verdict, where),
                   .level = level_of(verdict, where),
                   .rules = {},
                   .reasons = {}};
  for (const Json& rule : member(verdict, "rules", Json::value_t::array, where))
    out.rules.push_back({outcome_of(rule, where + ": rules"),
                         rule_name(text_of(rule, "tier", where), text_of(rule, "rule", where))});
  for (const Json& reason : member(verdict, "reasons", Json::value_t::array, where))
    out.reasons.push_back(
        {outcome_of(reason, where + ": reasons"), text_of(reason, "subject", where)});
  return out;
}

// The reason that comes first decides; a verdict without any is a pass.
Outcome decided_by(const std::vector<VerdictFacts::Named>& reasons) {
  Outcome out = Outcome::kPass;
  for (const auto& reason : reasons) {
    if (precedence(reason.outcome) > precedence(out)) out = reason.outcome;
  }
  return out;
}

bool is_good(Outcome outcome) {
  return outcome == Outcome::kPass || outcome == Outcome::kWarn;
}

std::string upper(std::string word) {
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return word;
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

class Holding {
 public:
  void text(const std::string& what, const std::string& expected, const std::string& found) {
    if (expected != found) out.push_back({what, expected, found});
  }

  void value(const std::string& what, const Json& expected, const Json& holder, const char* key) {
    if (!holder.contains(key))
      out.push_back({what, expected.dump(), std::nullopt});
    else if (holder[key] != expected)
      out.push_back({what, expected.dump(), holder[key].dump()});
  }

  // As sets: what is there twice is there.
  void names(const char* list, const std::set<std::string>& expected, const Json& predicate) {
    const std::string what = std::string(list) + ", by the verdict inside";
    if (!predicate.contains(list) || !predicate[list].is_array()) {
      out.push_back({what, joined(expected), std::nullopt});
      return;
    }
    std::set<std::string> found;
    for (const Json& name : predicate[list])
      found.insert(name.is_string() ? name.get<std::string>() : name.dump());
    if (found != expected) out.push_back({what, joined(expected), joined(found)});
  }

  std::vector<Disagreement> out;
};

// The one resource of that name that has its bytes with it.
const Resource* content_of(const std::vector<Resource>& resources, const char* name,
                           Holding& holding) {
  const Resource* found = nullptr;
  size_t n = 0;
  for (const Resource& r : resources) {
    if (r.name != name) continue;
    ++n;
    if (r.content) found = &r;
  }
  const std::string what = std::string(name) + " inside";
  if (!found) holding.out.push_back({what, "", std::nullopt});
  if (found && n > 1)
    holding.out.push_back({what + ", which is there once", "1", std::to_string(n)});
  return found && n == 1 ? found : nullptr;
}

void hold_verdict(const Json& verdict, const VerdictFacts& facts, Holding& holding) {
  const std::string outcome = name(facts.outcome);
  holding.text("outcome of the verdict inside, by its reasons", name(decided_by(facts.reasons)),
               outcome);
  const std::string begin = upper(outcome) + " at level " + std::to_string(facts.level);
  const std::string sentence = verdict.contains("sentence") && verdict["sentence"].is_string()
                                   ? verdict["sentence"].get<std::string>()
                                   : "";
  holding.text("sentence of the verdict inside", begin, sentence.substr(0, begin.size()));
}

// The one run in a list, with the one fingerprint of it; or none at all.
void hold_run(const std::string& role, const std::vector<Resource>& resources, bool is_needed,
              Holding& holding) {
  std::vector<std::string> runs, fingerprints;
  for (const Resource& r : resources) {
    if (!r.name.starts_with(kRunPrefix)) continue;
    const NamedRun named = named_run(r.name);
    if (named.id.empty())
      holding.out.push_back({"'" + r.name + "', as the name of a run", "run/ID", std::nullopt});
    else
      (named.is_fingerprint ? fingerprints : runs).push_back(named.id);
  }
  const size_t n_expected = is_needed ? 1 : 0;
  if (runs.size() != n_expected)
    holding.out.push_back({role + "s that are named, each with its fingerprint",
                           std::to_string(n_expected), std::to_string(runs.size())});
  else if (runs != fingerprints)
    holding.out.push_back({"fingerprint of " + role, runs.empty() ? "none" : runs.front(),
                           fingerprints.empty() ? "none" : fingerprints.front()});
}

void hold_names(const std::vector<Resource>& resources, Holding& holding) {
  std::map<std::string, size_t> n_of_name;
  for (const Resource& r : resources) n_of_name[r.name]++;
  for (const auto& [name, n] : n_of_name) {
    if (n > 1) holding.out.push_back({name + ", which is there once", "1", std::to_string(n)});
  }
}

// A verdict against a base names the base's run; each of the lists names everything once.
void hold_runs(const std::vector<Resource>& subjects, const std::vector<Resource>& configuration,
               const Json& verdict, Holding& holding) {
  hold_run("candidate run", subjects, true, holding);
  hold_run("base run", configuration, is_between_runs(verdict), holding);
  hold_names(subjects, holding);
  hold_names(configuration, holding);
}

// As of a day on which no override had expired, where the statement names a day.
void hold_day(const Resource& verdict, const Policy& policy, Holding& holding) {
  if (!verdict.annotations.contains("isobit_now")) return;
  const Json& now = verdict.annotations["isobit_now"];
  const auto day = now.is_string() ? parse_date(now.get<std::string>()) : std::nullopt;
  if (!day) holding.out.push_back({"isobit_now", "a day", now.dump()});
  for (const Override& o : policy.overrides) {
    if (day && o.expires < *day)
      holding.out.push_back({"isobit_now, by an override of the policy inside: at most",
                             date_text(o.expires), date_text(*day)});
  }
}

Policy policy_inside(const std::string& text, const std::string& where) {
  try {
    return read_policy(text, where + ": " + kPolicyResource);
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(),
                "the statement was damaged, or another version of isobit wrote it");
  }
}

}  // namespace

VerdictFacts facts_of(const Verdict& verdict) {
  VerdictFacts out{
      .outcome = verdict.outcome, .level = number(verdict.level), .rules = {}, .reasons = {}};
  for (const RuleResult& rule : verdict.rules)
    out.rules.push_back({rule.outcome, rule_name(rule.tier, rule.rule.id)});
  for (const Reason& reason : verdict.reasons)
    out.reasons.push_back({reason.outcome, json_text(reason.subject)});
  return out;
}

const char* result_word(Outcome outcome) {
  if (outcome == Outcome::kPass) return "PASSED";
  return outcome == Outcome::kWarn ? "WARNED" : "FAILED";  // evidence that is missing is no pass
}

TestNames tests_of(const VerdictFacts& verdict) {
  TestNames out;
  const auto add = [&](Outcome outcome, const std::string& test) {
    auto& list = outcome == Outcome::kPass   ? out.passed
                 : outcome == Outcome::kWarn ? out.warned
                                             : out.failed;
    list.insert(test);
  };
  for (const auto& rule : verdict.rules) add(rule.outcome, rule.name);
  const bool all_ran = is_good(verdict.outcome);
  if (all_ran && verdict.rules.empty())
    add(verdict.outcome, "level-" + std::to_string(verdict.level));
  // What no rule says, such as other weights: who reads only the lists must not take it for a pass.
  for (const auto& reason : verdict.reasons) {
    if (!all_ran && out.failed.empty()) add(reason.outcome, reason.name);
  }
  if (!all_ran && out.failed.empty()) out.failed.insert(name(verdict.outcome));
  return out;
}

std::vector<Disagreement> disagreements_inside(const InTotoStatement& statement,
                                               const std::string& where) {
  Holding holding;
  const std::vector<Resource> configuration = configuration_of(statement, where);
  const Resource* policy = content_of(configuration, kPolicyResource, holding);
  const Resource* resource = content_of(configuration, kVerdictResource, holding);
  if (!policy || !resource) return holding.out;
  const std::string at = where + ": " + kVerdictResource;
  const Json verdict = parse(*resource->content, at);
  const VerdictFacts facts = read_facts(verdict, at);
  hold_verdict(verdict, facts, holding);
  holding.text("policy.json, by the verdict inside",
               canonical_json(verdict.value("policy", Json())), *policy->content);
  const Policy asked = policy_inside(*policy->content, where);
  for (Disagreement& d : rules_unlike_policy(verdict, asked, at))
    holding.out.push_back(std::move(d));
  hold_runs(statement.subjects, configuration, verdict, holding);
  hold_day(*resource, asked, holding);
  holding.value("level of the policy inside", facts.level, verdict.value("policy", Json::object()),
                "level");
  holding.value("isobit_outcome, by the verdict inside", name(facts.outcome), resource->annotations,
                "isobit_outcome");
  holding.value("isobit_level, by the verdict inside", facts.level, resource->annotations,
                "isobit_level");
  holding.text("result, by the verdict inside", result_word(facts.outcome),
               result_of(statement, where));
  const TestNames tests = tests_of(facts);
  holding.names("passedTests", tests.passed, statement.predicate);
  holding.names("warnedTests", tests.warned, statement.predicate);
  holding.names("failedTests", tests.failed, statement.predicate);
  return std::move(holding.out);
}

}  // namespace isobit

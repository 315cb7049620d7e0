#include "app/verdict_again.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gate_runs.h"
#include "base/error.h"
#include "base/json.h"
#include "gate/policy_file.h"
#include "record/redaction.h"
#include "report/report.h"
#include "statement/test_result.h"
#include "statement/verdict_inside.h"

namespace isobit::app {
namespace {

constexpr size_t kMaxDifferences = 5;
constexpr double kLastDigits = 1e-9;  // relative: libm's functions agree to 1e-15 or so

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool same_value(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  const double x = a.get<double>(), y = b.get<double>();
  return x == y || std::abs(x - y) <= kLastDigits * std::max(std::abs(x), std::abs(y));
}

// Walks both at once; what is missing on one side is null.
class Differences {
 public:
  std::vector<Disagreement> of(const Json& expected, const Json& found) {
    walk("", expected, found);
    return std::move(out_);
  }

 private:
  void walk(const std::string& path, const Json& expected, const Json& found) {
    if (out_.size() >= kMaxDifferences) return;
    if (expected.is_object() && found.is_object()) return walk_object(path, expected, found);
    if (expected.is_array() && found.is_array() && expected.size() == found.size()) {
      for (size_t i = 0; i < expected.size(); ++i)
        walk(path + "[" + std::to_string(i) + "]", expected[i], found[i]);
      return;
    }
    if (!same_value(expected, found)) out_.push_back({path, shown(expected), shown(found)});
  }

  void walk_object(const std::string& path, const Json& expected, const Json& found) {
    const std::string begin = path.empty() ? "" : path + ".";
    for (const auto& [key, value] : expected.items())
      walk(begin + key, value, found.value(key, Json()));
    for (const auto& [key, value] : found.items()) {
      if (!expected.contains(key)) walk(begin + key, Json(), value);
    }
  }

  std::vector<Disagreement> out_;
};

const Resource* named(const std::vector<Resource>& resources, const std::string& name) {
  const auto at = std::ranges::find(resources, name, &Resource::name);
  return at == resources.end() ? nullptr : &*at;
}

// The run that a list names "run/ID", if the list names one.
const Resource* run_resource(const std::vector<Resource>& resources) {
  const auto at = std::ranges::find_if(resources, [](const Resource& r) {
    const NamedRun named = named_run(r.name);
    return !named.id.empty() && !named.is_fingerprint;
  });
  return at == resources.end() ? nullptr : &*at;
}

const RunRecord* find(const std::vector<GivenRun>& given, const Resource& resource) {
  const auto at = std::ranges::find(given, resource.digests.at("sha256"), &GivenRun::digest);
  return at == given.end() ? nullptr : &at->run;
}

// No override has expired: disagreements_inside holds them to the statement's day.
Verdict gate_again(const RunRecord& base, const RunRecord& candidate, const Policy& policy) {
  const Date day;
  if (base.redacted == candidate.redacted) return gate_runs(base, candidate, policy, day).verdict;
  return base.redacted ? gate_runs(base, redact(candidate), policy, day).verdict
                       : gate_runs(redact(base), candidate, policy, day).verdict;
}

}  // namespace

VerdictFinding verdict_again(const InTotoStatement& statement, const std::vector<GivenRun>& given,
                             const std::string& where) {
  const std::vector<Resource> configuration = configuration_of(statement, where);
  const Resource* verdict = named(configuration, kVerdictResource);
  const Resource* policy_text = named(configuration, kPolicyResource);
  const Resource* of_candidate = run_resource(statement.subjects);
  const Resource* of_base = run_resource(configuration);
  ISOBIT_REQUIRE(verdict && policy_text && of_candidate);
  VerdictFinding out;
  out.runs = (of_base ? of_base->name + " and " : "") + of_candidate->name;
  const RunRecord* candidate = find(given, *of_candidate);
  const RunRecord* base = of_base ? find(given, *of_base) : nullptr;
  if (!candidate || (of_base && !base)) return out;
  const Policy policy = read_policy(*policy_text->content, where + ": " + kPolicyResource);
  const Verdict again = base ? gate_again(*base, *candidate, policy)
                             : check_run(compare_within_run(*candidate), policy.level);
  // Through text, as what is inside came: a number is what it is written as.
  const Json expected = parse_json(canonical_json(verdict_json(again)), where, {.max_depth = 64});
  out.differences =
      Differences().of(expected, parse_json(*verdict->content, where, {.max_depth = 64}));
  out.state = out.differences.empty() ? VerdictAgain::kSame : VerdictAgain::kDiffers;
  return out;
}

}  // namespace isobit::app

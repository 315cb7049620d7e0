#include "statement/test_result.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/error.h"
#include "gate/policy_file.h"
#include "report/report.h"
#include "report/untrusted_text.h"
#include "statement/verdict_inside.h"

namespace isobit {
namespace {

constexpr const char* kJsonType = "application/json";
constexpr const char* kFingerprintSuffix = "/fingerprint";

Resource resource_of(const std::string& name, const std::string& sha256) {
  Resource out;
  out.name = json_text(name);
  out.digests["sha256"] = json_text(sha256);
  return out;
}

Json list_of(const std::set<std::string>& names) {
  Json out = Json::array();
  for (const std::string& name : names) out.push_back(name);
  return out;
}

Resource verdict_resource(const TestResultInput& input) {
  const Json verdict = verdict_json(input.verdict);
  Resource out = resource_with_content(kVerdictResource, canonical_json(verdict), kJsonType);
  out.annotations = {{"isobit_outcome", name(input.verdict.outcome)},
                     {"isobit_level", number(input.verdict.level)}};
  if (!input.now.empty()) out.annotations["isobit_now"] = json_text(input.now);
  return out;
}

Json configuration_json(const TestResultInput& input) {
  Json out = Json::array();
  if (input.base) {
    out.push_back(resource_json(resource_of(run_resource_name(input.base->id), input.base_digest)));
    out.push_back(resource_json(
        resource_of(fingerprint_resource_name(input.base->id), input.base->fingerprint.id)));
  }
  const Json verdict = verdict_json(input.verdict);
  out.push_back(resource_json(
      resource_with_content(kPolicyResource, canonical_json(verdict["policy"]), kJsonType)));
  out.push_back(resource_json(verdict_resource(input)));
  return out;
}

// A statement vouches for each name once.
void add_subject(const Resource& subject, std::vector<Resource>& out) {
  const auto same = std::ranges::find(out, subject.name, &Resource::name);
  if (same == out.end())
    out.push_back(subject);
  else if (same->digests != subject.digests)
    throw Error(ErrorCode::usage,
                "the statement would name '" + subject.name + "' twice, with other contents",
                "name a copy of another name with --subject");
}

}  // namespace

std::string run_resource_name(const std::string& run_id) {
  return kRunPrefix + run_id;
}

std::string fingerprint_resource_name(const std::string& run_id) {
  return run_resource_name(run_id) + kFingerprintSuffix;
}

NamedRun named_run(const std::string& resource_name) {
  if (!resource_name.starts_with(kRunPrefix)) return {};
  std::string id = resource_name.substr(std::string_view(kRunPrefix).size());
  const bool is_fingerprint = id.ends_with(kFingerprintSuffix);
  if (is_fingerprint) id.resize(id.size() - std::string_view(kFingerprintSuffix).size());
  if (id.find('/') != std::string::npos) return {};
  return {.id = std::move(id), .is_fingerprint = is_fingerprint};
}

std::vector<Resource> model_files(const Fingerprint& fingerprint) {
  constexpr std::string_view kBegin = "file.", kEnd = ".sha256";
  std::vector<Resource> out;
  for (const FingerprintItem& item : fingerprint.items) {
    const std::string& name = item.name;
    const bool is_file = item.item_class == FingerprintClass::kModel && is_sha256_hex(item.value) &&
                         name.size() > kBegin.size() + kEnd.size() && name.starts_with(kBegin) &&
                         name.ends_with(kEnd);
    if (!is_file) continue;
    out.push_back(resource_of(name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size()),
                              item.value));
  }
  return out;
}

InTotoStatement test_result_statement(const TestResultInput& input) {
  const RunRecord& run = input.candidate;
  InTotoStatement out{.predicate_type = kTestResultType};
  out.subjects = {resource_of(run_resource_name(run.id), input.candidate_digest),
                  resource_of(fingerprint_resource_name(run.id), run.fingerprint.id)};
  for (const Resource& file : model_files(run.fingerprint)) add_subject(file, out.subjects);
  for (const Resource& file : input.files) add_subject(file, out.subjects);
  const TestNames tests = tests_of(facts_of(input.verdict));
  out.predicate = {{"result", result_word(input.verdict.outcome)},
                   {"configuration", configuration_json(input)},
                   {"passedTests", list_of(tests.passed)},
                   {"warnedTests", list_of(tests.warned)},
                   {"failedTests", list_of(tests.failed)}};
  return out;
}

}  // namespace isobit

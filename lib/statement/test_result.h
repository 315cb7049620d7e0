// A verdict as an in-toto test-result: what was tested, under which policy, and what came out.
//
// Subjects are the candidate run, its fingerprint, the model's files, and the files that the caller
// names. The configuration holds the base, the policy and the whole verdict, so that an auditor
// needs nothing else to see what was asked. No clock is read: the same verdict gives the same
// bytes.
#pragma once

#include <string>
#include <vector>

#include "gate/verdict.h"
#include "record/run_record.h"
#include "statement/in_toto.h"

namespace isobit {

struct TestResultInput {
  const Verdict& verdict;
  const RunRecord& candidate;
  std::string candidate_digest;     // of the whole run (bundle/run_bundle.h)
  const RunRecord* base = nullptr;  // null: the run was held against itself
  std::string base_digest = {};
  std::vector<Resource> files = {};  // further subjects
  std::string now = {};              // what the user says the time is; empty: nothing is said
};

// Throws Error(usage) for two subjects of one name and two contents.
InTotoStatement test_result_statement(const TestResultInput& input);

// How statements name a run and a fingerprint: "run/ID", "run/ID/fingerprint".
inline constexpr const char* kRunPrefix = "run/";
std::string run_resource_name(const std::string& run_id);
std::string fingerprint_resource_name(const std::string& run_id);

// What such a name names; of all other names the id is empty.
struct NamedRun {
  std::string id;
  bool is_fingerprint = false;
};
NamedRun named_run(const std::string& resource_name);

// The files of a model, with the SHA-256 that hubs publish: items "file.NAME.sha256".
std::vector<Resource> model_files(const Fingerprint& fingerprint);

}  // namespace isobit

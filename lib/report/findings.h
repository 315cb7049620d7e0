// What a comparison found, as the separate things that code hosts list beside a change: one per
// cell and kind of difference, one per unit of a rule that does not hold, one per other reason of
// the verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gate/outcome.h"
#include "report/report.h"

namespace isobit {

struct FindingRule {
  std::string id;       // "different-tokens"; "rule/p95" for a policy's own
  std::string summary;  // one sentence
  std::string help;     // what it means and what to do about it
};

struct Finding {
  size_t rule_index = 0;             // into Findings::rules
  Outcome outcome = Outcome::kPass;  // kPass: told, and decides nothing
  std::string subject;               // the cell, fingerprint item, ...
  std::string message;               // holds names from outside: made safe by each format
  std::string fingerprint;           // SHA-256: the same finding in another run has the same
};

struct Findings {
  std::vector<FindingRule> rules;  // those that are used, in the order of their first finding
  std::vector<Finding> list;       // what decides comes first; at most kMaxFindings
  size_t n_left_out = 0;
};
inline constexpr size_t kMaxFindings = 1000;

Findings findings_of(const ReportInput& input);

// How much a finding weighs where a format has three words for it.
enum class Weight { kNote, kWarning, kError };
Weight weight_of(Outcome outcome);

}  // namespace isobit

// Runs and gates for the tests of this folder.
#pragma once

#include <string>

#include "gate/policy_file.h"
#include "gate/verdict.h"
#include "tests/compare/recorded_answers.h"

namespace isobit::testing {

inline constexpr Date kToday{.year = 2026, .month = 6, .day = 15};

inline void flip(RunRecord& run, int32_t cell, int32_t prompt, int32_t repeat = 0) {
  trace_of(run, cell, prompt, repeat).positions[1] = position(99, -0.25f, 0.0625f, 4711);
}

// The other token won by a wide margin on both sides.
inline void flip_suspiciously(RunRecord& base, RunRecord& candidate, int32_t cell, int32_t prompt) {
  trace_of(base, cell, prompt).positions[1] = position(20, -0.1f, 9.0f, 101);
  trace_of(candidate, cell, prompt).positions[1] = position(99, -0.1f, 9.0f, 4711);
}

inline void drift(RunRecord& run, int32_t cell, int32_t prompt, float nats = 0.001f) {
  Trace& trace = trace_of(run, cell, prompt);
  trace.positions[1].logprob -= nats;
  trace.positions[1].logits_hash = row_hash(4712);
}

inline void drop_sample(RunRecord& run, int32_t cell, int32_t prompt) {
  std::erase_if(run.samples, [&](const SampleRecord& s) {
    return s.cell_index == cell && s.prompt_index == prompt;
  });
}

inline Verdict gate_with(const RunRecord& base, const RunRecord& candidate, const Policy& policy) {
  CompareOptions options;
  options.detail = Detail::kFull;
  const RunComparison within = compare_within_run(candidate, options);
  GateRequest request;
  request.policy = &policy;
  request.today = kToday;
  request.candidate_within = &within;
  return gate(compare_runs(base, candidate, options), request);
}

// A policy as a user writes it: `members` follow name and level.
inline Policy policy_of(const std::string& members, int level = 0) {
  return read_policy("{\"name\": \"p\", \"level\": " + std::to_string(level) +
                         (members.empty() ? "" : ", ") + members + "}",
                     "p.json");
}

inline Verdict gate_with(const RunRecord& base, const RunRecord& candidate,
                         const std::string& members, int level = 0) {
  return gate_with(base, candidate, policy_of(members, level));
}

inline const RuleResult& result_of(const Verdict& verdict, const std::string& rule) {
  for (const RuleResult& result : verdict.rules) {
    if (result.rule.id == rule) return result;
  }
  throw std::logic_error("no result of rule " + rule);
}

inline std::string reasons_text(const Verdict& verdict) {
  std::string text;
  for (const Reason& reason : verdict.reasons)
    text += std::string(name(reason.outcome)) + ": " + reason.subject + ": " + reason.text + "\n";
  return text;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace isobit::testing

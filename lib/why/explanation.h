// Why one sample's answer is not its reference's: both executions are repeated, held against what
// was recorded, and searched for the first operator that computed other bits.
//
// A re-run that gives another answer than the record is an answer too: then nothing repeatable
// stands behind the recorded difference, and no operator is blamed for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/divergence.h"
#include "compare/level.h"
#include "why/contract_clause.h"
#include "why/probed_answer.h"

namespace isobit {

// One side: what was recorded, and how to do it again.
struct Arm {
  std::string sample;  // "4f2a/load.concurrency=8/p3"
  std::string cell;
  Request request;  // as the cell asks it
  Trace recorded;
  // Absent where the target cannot be asked again: a server that is not configured, an import.
  std::optional<Execution> execution;
  WatchedTarget target;
};

enum class Cause {
  kNone,           // nothing differs
  kNotReproduced,  // a re-run gave another answer than the one recorded
  kNotRepeatable,  // two probed re-runs gave other bits
  kNotProbed,      // the answers differ; this target shows no operators
  kOperator,       // an operator's row differs
  kSampler,        // the same logits and another token
  kScores,         // the same logits and token, other scores
  kEnding,         // everything the same but where or how the answer ends
  kNotLocated,     // the answers differ, no operator up to there does
};
const char* name(Cause cause);  // "operator", ...

struct ArmFinding {
  std::string sample, cell;
  std::string kernel_set, isa;     // empty: not known
  bool claims_invariance = false;  // batch and schedule
  bool rounds_to_bf16 = false;     // activations, between operators
  bool rerun = false;
  bool reproduced = false;
  std::optional<Divergence> from_record;  // of a re-run that differs
};

// One output position around the divergence.
struct TailPosition {
  int32_t position = 0;                               // of the answer, from 0
  std::optional<TracePosition> reference, candidate;  // absent: the answer had ended
  bool same_bits = false;
};

// How the flip came about: the gap between the two tokens' logits on both sides.
struct FlipMargin {
  int32_t reference_token = 0, candidate_token = 0;
  double reference_gap = 0;  // logit of the reference's token minus the other's, on each side
  double candidate_gap = 0;
  double drift() const { return reference_gap - candidate_gap; }
};

struct Explanation {
  Cause cause = Cause::kNone;
  std::string request_id;
  bool between_runs = false;  // the reference is another run's answer
  int32_t n_prompt_tokens = 0;
  ArmFinding reference, candidate;
  Divergence divergence;  // of the records
  std::optional<FlipKind> flip;
  std::vector<TailPosition> tail;
  std::optional<ContractClause> clause;
  std::optional<OperatorDifference> first;
  std::optional<uint32_t> first_ulp;
  std::optional<StepComposition> reference_step, candidate_step;  // of the first difference
  std::vector<OperatorDrift> drifts;                              // at the diverging position
  std::optional<FlipMargin> flip_margin;

  // The operator whose difference at the diverging position is largest in ulp; null without drifts.
  const OperatorDrift* largest_drift() const;
  // The output position at which the answers part; nullopt: they do not.
  std::optional<int32_t> position() const;
};

struct ExplainOptions {
  SampleComparisonOptions comparison = {};
  FlipThresholds flips = {};
  int32_t n_before = 4, n_after = 3;  // positions of the tail
  BetweenAnswers between_answers = {};
};

// REQUIRES: both arms answer the same question (token ids, sampling).
Explanation explain(const Arm& reference, const Arm& candidate, const ExplainOptions& options = {});

}  // namespace isobit

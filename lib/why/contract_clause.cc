#include "why/contract_clause.h"

namespace isobit {
namespace {

constexpr ContractClause kTree = {
    "2, Tree(K)",
    "every output element of a matmul is summed in one order: leaves of 128 terms, combined by the "
    "balanced rule, whatever other rows are in the step"};
constexpr ContractClause kSegments = {
    "2, Tree(K) and segments",
    "every output element is summed in one order: R segments, in each leaves of 128 terms, all "
    "combined by the balanced rule, whatever other rows are in the step"};
constexpr ContractClause kNorm = {
    "2, Lanes(64), and 3.2, rms_norm",
    "the squares of a row are summed in 64 lanes that fold by halves; no other row takes part"};
constexpr ContractClause kElementwise = {
    "3.2", "an element of a row depends on that row's elements alone, with the roundings named"};
constexpr ContractClause kAttention = {
    "3.4, attention",
    "positions are cut into splits of 128 from absolute position 0 and combined by the balanced "
    "rule; where a split ends depends on nothing but the position, and none is cut for speed"};
constexpr ContractClause kCache = {
    "3.5, the KV cache",
    "keys and values are rounded once, when they are written, and read back as they were written, "
    "whoever used the block before"};
constexpr ContractClause kExperts = {
    "3.2, router and experts",
    "the experts of a row are chosen and combined in rank order from that row alone"};

}  // namespace

ContractClause clause_of(Operator op) {
  switch (op) {
    case Operator::kQkv:
    case Operator::kGateUp:
    case Operator::kHead:
      return kTree;
    case Operator::kAttentionOut:
    case Operator::kDown:
      return kSegments;
    case Operator::kAttentionNorm:
    case Operator::kQueryKeyNorm:
    case Operator::kAttentionOutNorm:
    case Operator::kMlpNorm:
    case Operator::kMlpOutNorm:
    case Operator::kFinalNorm:
      return kNorm;
    case Operator::kRope:
      return {"3.3, the rope table",
              "the angle of an element depends on its position and the configuration alone"};
    case Operator::kKvWrite:
      return kCache;
    case Operator::kAttention:
      return kAttention;
    case Operator::kRouter:
    case Operator::kExperts:
      return kExperts;
    case Operator::kEmbed:
    case Operator::kAttentionResidual:
    case Operator::kSiluMul:
    case Operator::kGeluMul:
    case Operator::kMlpResidual:
    case Operator::kFinalSoftCap:
      return kElementwise;
  }
  return kElementwise;
}

ContractClause clause_of_sampler() {
  return {"5, sampling",
          "a draw is a pure function of the logits row, the parameters, the request's tokens, its "
          "seed, the absolute position and the sample index; no stream is shared"};
}

ContractClause clause_of_scores() {
  return {"3.6, scores and the logits hash",
          "logprobs, alternatives and margins follow from the raw row in one order of operations"};
}

ContractClause clause_of_ending() {
  return {"5, where an answer ends",
          "stop tokens, stop strings and max_tokens are looked at in one order after each token"};
}

}  // namespace isobit

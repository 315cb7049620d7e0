// What every operator of a step put out, named by the terms of the numeric contract: the way to
// answer "which operator of which layer is the first that differs?".
//
// Nothing is copied or computed for a probe, and without one the forward pass tests a pointer per
// operator. What an observer sees is the buffer that the next operator reads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace isobit {

// In the order in which a row meets them; all but the first and the last three are met in layers,
// once in each that has them. A fused implementation reports where the contract's operator would
// have ended.
enum class Operator : uint8_t {
  kEmbed,
  kAttentionNorm,
  kQkv,
  kQueryKeyNorm,
  kRope,
  kKvWrite,  // read back from the cache
  kAttention,
  kAttentionOut,
  kAttentionOutNorm,
  kAttentionResidual,
  kMlpNorm,
  kRouter,
  kGateUp,
  kSiluMul,
  kGeluMul,
  kDown,
  kExperts,  // combined: the experts' own matmuls are not reported
  kMlpOutNorm,
  kMlpResidual,
  kFinalNorm,
  kHead,
  kFinalSoftCap,
};
inline constexpr size_t kOperatorCount = static_cast<size_t>(Operator::kFinalSoftCap) + 1;

// Whether its rows are those that get logits, not all rows of the step.
inline bool is_of_logits(Operator op) {
  return op >= Operator::kFinalNorm;
}

// "rms_norm (attention)", "matmul (q, k, v)", "kv_write", ...
const char* name(Operator op);

// Rows of one operator's output in one step. Valid during the call only.
struct OperatorOutput {
  Operator op = Operator::kEmbed;
  int64_t layer = 0;              // n_layers where is_of_logits(op), 0 for kEmbed
  const float* values = nullptr;  // (n_rows, width), rows contiguous
  int64_t n_rows = 0;  // the step's token rows; where is_of_logits(op), the rows that get logits
  int64_t width = 0;
};
using OperatorObserver = std::function<void(const OperatorOutput&)>;

// Whose row it is: generated and prompt tokens alike, by absolute position.
struct ProbedRow {
  size_t request_index = 0;
  int32_t sample_index = 0;
  int32_t position = 0;
};

// One operator of one step of an engine: rows[r] names row r of `output`.
using OperatorSink =
    std::function<void(int64_t step, std::span<const ProbedRow> rows, const OperatorOutput&)>;

}  // namespace isobit

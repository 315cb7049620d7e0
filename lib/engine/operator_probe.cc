#include "engine/operator_probe.h"

namespace isobit {

const char* name(Operator op) {
  switch (op) {
    case Operator::kEmbed:
      return "embed";
    case Operator::kAttentionNorm:
      return "rms_norm (attention)";
    case Operator::kQkv:
      return "matmul (q, k, v)";
    case Operator::kQueryKeyNorm:
      return "rms_norm (queries, keys)";
    case Operator::kRope:
      return "rope";
    case Operator::kKvWrite:
      return "kv_write";
    case Operator::kAttention:
      return "attention";
    case Operator::kAttentionOut:
      return "matmul (attention output)";
    case Operator::kAttentionOutNorm:
      return "rms_norm (attention output)";
    case Operator::kAttentionResidual:
      return "residual (attention)";
    case Operator::kMlpNorm:
      return "rms_norm (MLP)";
    case Operator::kRouter:
      return "router";
    case Operator::kGateUp:
      return "matmul (gate, up)";
    case Operator::kSiluMul:
      return "silu_mul";
    case Operator::kGeluMul:
      return "gelu_mul";
    case Operator::kDown:
      return "matmul (down)";
    case Operator::kExperts:
      return "combine_experts";
    case Operator::kMlpOutNorm:
      return "rms_norm (MLP output)";
    case Operator::kMlpResidual:
      return "residual (MLP)";
    case Operator::kFinalNorm:
      return "rms_norm (final)";
    case Operator::kHead:
      return "matmul (head)";
    case Operator::kFinalSoftCap:
      return "soft_cap";
  }
  return "unknown";
}

}  // namespace isobit

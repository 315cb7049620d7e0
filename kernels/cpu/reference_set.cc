#include "kernels/cpu/reference.h"
#include "kernels/cpu/reference_operators.h"

namespace isobit {

const KernelSet& reference_kernel_set() {
  static const KernelSet set = {
      .name = "reference",
      .isa = "scalar",
      .claims = {.same_bits_as_reference = true,
                 .batch_invariant = true,
                 .schedule_invariant = true,
                 .thread_invariant = true},
      .rounds_activations_to_bf16 = false,
      .pack = reference::pack,
      .matmul = reference::matmul,
      .matmul_segments = reference::matmul_segments,
      .rms_norm = reference::rms_norm,
      .norm_heads = reference::norm_heads,
      .residual = reference::residual,
      .silu_mul = reference::silu_mul,
      .gelu_mul = reference::gelu_mul,
      .soft_cap = reference::soft_cap,
      .route = reference::route,
      .combine_experts = reference::combine_experts,
      .rope = reference::rope,
      .kv_write = reference::kv_write,
      .attention = reference::attention,
      .log_sum_exp = reference::log_sum_exp,
      .elementary = reference::elementary,
  };
  return set;
}

}  // namespace isobit

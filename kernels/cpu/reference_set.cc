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
      .rms_norm = reference::rms_norm,
      .residual = reference::residual,
      .silu_mul = reference::silu_mul,
      .rope = reference::rope,
      .kv_write = reference::kv_write,
      .attention = reference::attention,
      .log_sum_exp = reference::log_sum_exp,
      .elementary = reference::elementary,
  };
  return set;
}

}  // namespace isobit

// The table of one lane type: every operator of kernels/ops.h, from the templates of this folder.
#pragma once

#include "kernels/cpu/cpu_activations.h"
#include "kernels/cpu/cpu_attention.h"
#include "kernels/cpu/cpu_elementary.h"
#include "kernels/cpu/cpu_matmul.h"
#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/cpu_roofs.h"
#include "kernels/cpu/cpu_rows.h"

namespace isobit {

template <class V>
constexpr CpuOps cpu_operators() {
  return {.matmul = &Matmul<V>::run,
          .matmul_segments = &Matmul<V>::run_segments,
          .rms_norm = &RowOperators<V>::rms_norm,
          .norm_heads = &RowOperators<V>::norm_heads,
          .residual = &RowOperators<V>::residual,
          .silu_mul = &Activations<V>::silu_mul,
          .gelu_mul = &Activations<V>::gelu_mul,
          .soft_cap = &Activations<V>::soft_cap,
          .combine_experts = &Activations<V>::combine_experts,
          .rope = &RowOperators<V>::rope,
          .kv_write = &RowOperators<V>::kv_write,
          .attention = &Attention<V>::run,
          .log_sum_exp = &RowOperators<V>::log_sum_exp,
          .roofs = RoofLoops<V>::table(),
          .elementary = &ElementaryArrays<V>::run};
}

}  // namespace isobit

#include "kernels/cpu/cpu_sets.h"

#include "base/error.h"
#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/cpu_packed.h"
#include "kernels/cpu/reference_operators.h"

namespace isobit {
namespace {

KernelSet make_set(const char* isa, const CpuOps& ops) {
  KernelSet set;
  set.name = "cpu";
  set.isa = isa;
  set.claims = {.same_bits_as_reference = true,
                .batch_invariant = true,
                .schedule_invariant = true,
                .thread_invariant = true};
  set.pack = pack_cpu_matrix;
  set.matmul = ops.matmul;
  set.matmul_segments = ops.matmul_segments;
  set.rms_norm = ops.rms_norm;
  set.norm_heads = ops.norm_heads;
  set.residual = ops.residual;
  set.silu_mul = ops.silu_mul;
  set.gelu_mul = ops.gelu_mul;
  set.soft_cap = ops.soft_cap;
  set.route = reference::route;  // a few scores a row: not worth a second version
  set.combine_experts = ops.combine_experts;
  set.rope = ops.rope;
  set.kv_write = ops.kv_write;
  set.attention = ops.attention;
  set.log_sum_exp = ops.log_sum_exp;
  set.elementary = ops.elementary;
  return set;
}

}  // namespace

const KernelSet& cpu_kernel_set_portable() {
  static const KernelSet set = make_set("portable", kCpuOpsPortable);
  return set;
}

#if defined(__x86_64__)

const KernelSet& cpu_kernel_set_avx2() {
  static const KernelSet set = make_set("avx2", kCpuOpsAvx2);
  return set;
}

const KernelSet& cpu_kernel_set_avx512() {
  static const KernelSet set = make_set("avx512", kCpuOpsAvx512);
  return set;
}

#elif defined(__aarch64__)

const KernelSet& cpu_kernel_set_neon() {
  static const KernelSet set = make_set("neon", kCpuOpsNeon);
  return set;
}

#endif

const CpuRoofs& cpu_roofs(const std::string& isa) {
  if (isa == "portable") return kCpuOpsPortable.roofs;
#if defined(__x86_64__)
  if (isa == "avx2") return kCpuOpsAvx2.roofs;
  if (isa == "avx512") return kCpuOpsAvx512.roofs;
#endif
  fail_require("an instruction set of the cpu set", __FILE__, __LINE__);
}

}  // namespace isobit

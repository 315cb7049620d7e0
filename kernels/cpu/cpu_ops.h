// What one instruction-set file hands to the rest of the program: plain function pointers and
// nothing that needs code.
//
// Files compiled for AVX2 or AVX-512 must not emit any function that another file could emit too:
// the linker keeps one copy of an inline function, and if it keeps the AVX-512 copy, older
// processors crash in code that looks innocent. So those files use raw pointers, templates over
// their own lane type, and this header; std::string, std::vector and std::function stay in
// cpu_sets.cc, cpu_packed.cc and cpu_work.cc.
#pragma once

#include <cstdint>

#include "kernels/cpu/cpu_sets.h"
#include "kernels/ops.h"
#include "numeric/ieee_arithmetic.h"

namespace isobit {

struct CpuOps {
  decltype(KernelSet::matmul) matmul;
  decltype(KernelSet::matmul_segments) matmul_segments;
  decltype(KernelSet::rms_norm) rms_norm;
  decltype(KernelSet::norm_heads) norm_heads;
  decltype(KernelSet::residual) residual;
  decltype(KernelSet::silu_mul) silu_mul;
  decltype(KernelSet::gelu_mul) gelu_mul;
  decltype(KernelSet::soft_cap) soft_cap;
  decltype(KernelSet::combine_experts) combine_experts;
  decltype(KernelSet::rope) rope;
  decltype(KernelSet::kv_write) kv_write;
  decltype(KernelSet::attention) attention;
  decltype(KernelSet::log_sum_exp) log_sum_exp;
  CpuRoofs roofs;
  decltype(KernelSet::elementary) elementary;
};

extern const CpuOps kCpuOpsPortable;
#if defined(__x86_64__)
extern const CpuOps kCpuOpsAvx2;
extern const CpuOps kCpuOpsAvx512;
#elif defined(__aarch64__)
extern const CpuOps kCpuOpsNeon;
#endif

}  // namespace isobit

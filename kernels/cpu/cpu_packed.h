// Weights as the `cpu` set reads them: panels of 32 output columns, the stored quantisation kept,
// or for the less usual formats (numeric/block_parts.h) its integers as int8 beside f32 steps.
//
// A vector lane owns one output column and walks k upwards, which is the contract's chain for that
// element. So within a panel the columns are innermost. Layout of one panel, in units of its block
// (all numbers little-endian, no gaps, every block a multiple of 64 bytes, and exactly the stored
// size):
//
//   F32, F16, BF16   per k: 32 values
//   Q8_0   per 32 k: f16 d[32]; int8 q[32 k][32]
//   Q4_0   per 32 k: f16 d[32]; u32 nibbles[4][32]
//   Q4_1   per 32 k: f16 d[32]; f16 m[32]; u32 nibbles[4][32]
//   Q4_K   per 256 k: f16 d[32]; f16 dmin[32]; u32 scale_low[32]; u32 min_low[32]; u32 high[32];
//   u32 nibbles[32][32] Q6_K   per 256 k: f16 d[32]; int8 scale[16][32]; u32 low[32][32]; u32
//   high[16][32]
//
// A u32 of nibbles holds 8 consecutive k of one column, k ascending from the low bits, so one
// vector load serves 8 steps of 8 or 16 columns. Q4_K's scale of sub-block i is nibble i of
// scale_low with bits 2i, 2i+1 of `high` above it; its min is nibble i of min_low with bits 16+2i,
// 17+2i. Q6_K's `high` holds 2 bits of 16 consecutive k.
//
//   kSteps     per 32 k: f32 step[2][32], of 16 k each; int8 q[32 k][32]
//   kStepsOffsets   per 32 k: f32 step[2][32], f32 offset[2][32]; int8 q[32 k][32]
#pragma once

#include <memory>
#include <span>

#include "kernels/ops.h"

namespace isobit {

inline constexpr int64_t kPanelColumns = 32;

enum class PanelFormat : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ4_K,
  kQ6_K,
  kSteps,         // Q5_0 Q3_K IQ4_NL IQ4_XS MXFP4
  kStepsOffsets,  // Q5_1 Q2_K Q5_K
};

struct Panel {
  const std::byte* weights = nullptr;
  const float* bias = nullptr;  // (n_columns), null where the part has none: an absent term is
                                // skipped, not added as 0
  int64_t first_column = 0;     // of y
  int64_t n_columns = 0;        // 1..32; columns past it are stored as zeros and never written to y
  PanelFormat format = PanelFormat::kF32;
};

class CpuPackedMatrix final : public PackedMatrix {
 public:
  struct Storage;

  explicit CpuPackedMatrix(std::unique_ptr<Storage> storage);
  ~CpuPackedMatrix() override;

  const Panel* panels = nullptr;
  int64_t n_panels = 0;

 private:
  std::unique_ptr<Storage> storage_;
};

// KernelSet::pack of every cpu variant. REQUIRES: parts share n_in, which n_segments divides.
std::unique_ptr<PackedMatrix> pack_cpu_matrix(std::span<const MatrixPart> parts, int64_t n_segments,
                                              ThreadPool& pool);

}  // namespace isobit

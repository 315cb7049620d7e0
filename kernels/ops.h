// The operators of the engine: one contract block each, and the table (KernelSet) that names an
// implementation of all.
//
// The order and the rounding of every operation are fixed by the numeric contract
// (docs/numeric-contract.md); a kernel set that claims `same_bits_as_reference` is free in
// everything else: tiles, threads, vector width, layout. The claims are data, and tests/kernels
// runs each of them against `reference`.
//
// All pointers are to f32 unless said otherwise; matrices are row-major, outermost dimension first.
// An operator's result for one row never depends on the other rows, unless the set's claims say so
// (the adaptive sets do not claim it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "numeric/elementary.h"
#include "tensor/tensor_view.h"

namespace isobit {

// Positions per block of the paged KV cache. Divides the attention split (128), so that a block
// lies in one split.
inline constexpr int64_t kKvBlockTokens = 16;
inline constexpr int64_t kAttentionSplit = 128;

enum class KvDType : uint8_t { kF16, kF32, kBF16 };

// One layer of the paged cache.
struct KvLayerView {
  KvDType dtype = KvDType::kF16;
  int64_t n_kv_heads = 0;
  int64_t head_dim = 0;
  std::byte* keys =
      nullptr;  // (n_blocks, n_kv_heads, head_dim, kKvBlockTokens): positions innermost
  std::byte* values = nullptr;  // (n_blocks, n_kv_heads, kKvBlockTokens, head_dim)
};

// The token rows of one step. Row r belongs to sequence sequence_of_row[r] and stands at absolute
// position positions[r]; rows of one sequence are consecutive and ascending.
struct BatchView {
  int64_t n_rows = 0;
  const int32_t* positions = nullptr;        // (n_rows)
  const int32_t* sequence_of_row = nullptr;  // (n_rows)
  int64_t n_sequences = 0;
  const int32_t* const* block_tables =
      nullptr;  // (n_sequences): block of positions 16b..16b+15 is block_tables[s][b]
};

// Table entries for positions [0, n_positions): cos and sin are (n_positions, rotary_dim / 2).
struct RopeView {
  const float* cos = nullptr;
  const float* sin = nullptr;
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;  // at most head_dim: elements from here on stay as they are
};

struct AttentionShape {
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;  // divides n_heads; query head h reads KV head h / (n_heads / n_kv_heads)
  int64_t head_dim = 0;
  float score_scale = 0;  // c = RN(log2 e / sqrt(head_dim)); under a cap RN(1 / sqrt(head_dim))
  int64_t window = 0;     // W: a query at p sees max(0, p - W + 1)..p. 0: everything up to p
  float soft_cap = 0;     // t: the score is cap_scale * tanh((q.k * score_scale) / t). 0: none
  float cap_scale = 0;    // RN(t * log2 e)

  // The first position that a query at `position` sees.
  int64_t first_seen(int64_t position) const {
    return window > 0 && position >= window ? position - window + 1 : 0;
  }
};

// The forms of GELU that models are trained with.
enum class Gelu : uint8_t { kTanh, kErf };

enum class Renormalise : uint8_t { kNo, kYes };

// What the experts of a mixture put out, for every row and each of its top_k choices in rank order.
struct ExpertOutputs {
  const float* const* first = nullptr;      // (n_rows, top_k): the first segment's row of n_out
  const int64_t* segment_stride = nullptr;  // (n_rows, top_k): floats from one segment to the next
  const float* weights = nullptr;           // (n_rows, top_k)
  int64_t n_rows = 0;
  int64_t top_k = 0;
  int64_t n_segments = 1;
};

// Weights of one matmul in the layout of the set that packed them. Several stored matrices may be
// stacked along n_out (q, k, v; gate, up), each with its own dtype; the stored quantisation is
// kept, never widened to f32.
class PackedMatrix {
 public:
  virtual ~PackedMatrix() = default;
  int64_t n_out = 0;
  int64_t n_in = 0;
  int64_t n_segments = 1;  // R for row-parallel matmuls: n_in is cut into so many Trees
  size_t packed_bytes = 0;
};

// One matrix of a stack. `bias` is f32 (n_out of that matrix) or empty.
struct MatrixPart {
  const TensorView* weight = nullptr;  // (n_out, n_in), dtype for which engine_supports() holds
  std::span<const float> bias;
};

struct KernelClaims {
  bool same_bits_as_reference = false;
  bool batch_invariant = false;     // a row's result does not depend on the other rows of the step
  bool schedule_invariant = false;  // nor on how prefill was cut into steps
  bool thread_invariant = false;
};

struct KernelSet {
  std::string name;  // "reference", "cpu", "cpu-adaptive"
  std::string isa;   // "scalar", "portable", "avx2", "avx512"
  KernelClaims claims;
  bool rounds_activations_to_bf16 =
      false;  // between operators; the engine rounds the embedding rows it feeds in

  // Lays `parts` out for matmul. All parts share n_in.
  std::unique_ptr<PackedMatrix> (*pack)(std::span<const MatrixPart> parts, int64_t n_segments,
                                        ThreadPool& pool) = nullptr;

  // matmul: y[r][n] = sum over k of x[r][k] * w[n][k], then + bias[n] by one add.
  //   x (n_rows, n_in), y (n_rows, n_out).
  //   order: Tree(K) in each of n_segments equal segments of K, segments by the balanced rule
  //   (contract section 2).
  void (*matmul)(const PackedMatrix& w, const float* x, int64_t n_rows, float* y,
                 ThreadPool& pool) = nullptr;

  // matmul_segments: as matmul, but the sums of the segments stay apart: y (n_segments, n_rows,
  // n_out).   REQUIRES: no part has a bias.
  void (*matmul_segments)(const PackedMatrix& w, const float* x, int64_t n_rows, float* y,
                          ThreadPool& pool) = nullptr;

  // rms_norm: y[r] = (x[r] * 1/sqrt(Lanes64(x[r]^2)/dim + eps)) * w.   x, y (n_rows, dim), w (dim).
  // y may be x.
  void (*rms_norm)(const float* x, const float* w, float eps, int64_t n_rows, int64_t dim, float* y,
                   ThreadPool& pool) = nullptr;

  // norm_heads: rms_norm, in place, of each of n_heads heads of `dim` elements that start at x + r
  // * row_stride; w (dim) is shared by all heads.
  void (*norm_heads)(float* x, int64_t row_stride, int64_t n_heads, int64_t dim, const float* w,
                     float eps, int64_t n_rows, ThreadPool& pool) = nullptr;

  // residual: x[i] = x[i] + f[i], one add.   x, f (n)
  void (*residual)(float* x, const float* f, int64_t n, ThreadPool& pool) = nullptr;

  // silu_mul: y[r][i] = (g / (1 + exp(-g))) * u with g = gate_up[r][i], u = gate_up[r][width + i].
  //   gate_up (n_rows, 2 * width), y (n_rows, width)
  void (*silu_mul)(const float* gate_up, int64_t n_rows, int64_t width, float* y,
                   ThreadPool& pool) = nullptr;

  // gelu_mul: as silu_mul with (0.5*g) * (1 + tanh(t * RN(sqrt(2/pi)))), t = fma(0.044715, (g*g)*g,
  // g), or (0.5*g) * (1 + erf(g * RN(1/sqrt(2)))), times u.
  void (*gelu_mul)(Gelu form, const float* gate_up, int64_t n_rows, int64_t width, float* y,
                   ThreadPool& pool) = nullptr;

  // soft_cap: x[i] = t * tanh(x[i] / t).   x (n)
  void (*soft_cap)(float* x, int64_t n, float t, ThreadPool& pool) = nullptr;

  // route: the top_k experts of each row. p = softmax of the row (exp(z - max), Lanes64, one div
  // each); the largest first, ties to the lowest id; with `renormalise` each selected p is divided
  // by the chain sum of the selected in rank order.
  //   logits (n_rows, n_experts), ids and weights (n_rows, top_k)
  void (*route)(const float* logits, int64_t n_rows, int64_t n_experts, int64_t top_k,
                Renormalise renormalise, int32_t* ids, float* weights, ThreadPool& pool) = nullptr;

  // combine_experts: y[r][n] = over segments by the balanced rule, chain of fma(weight, output, .)
  // over the choices in rank order.   y (n_rows, n_out)
  void (*combine_experts)(const ExpertOutputs& outputs, int64_t n_out, float* y,
                          ThreadPool& pool) = nullptr;

  // rope: rotates, in place, elements i and i + rotary_dim/2 of each of n_heads heads that start at
  // x
  // + r * row_stride.
  //   y0 = fma(x0, c, -(x1*s)), y1 = fma(x1, c, x0*s)
  void (*rope)(float* x, int64_t row_stride, int64_t n_heads, const RopeView& table,
               const BatchView& batch, ThreadPool& pool) = nullptr;

  // kv_write: rounds each row's keys and values to the cache's dtype and stores them at the row's
  // position.
  //   k, v: (n_rows, n_kv_heads * head_dim) with row stride row_stride
  void (*kv_write)(const float* k, const float* v, int64_t row_stride, const BatchView& batch,
                   const KvLayerView& cache, ThreadPool& pool) = nullptr;

  // attention: row r attends to cached positions first_seen(positions[r])..positions[r] of its
  // sequence (contract section 3, splits of 128 from 0, those that hold a position it sees).
  //   q: (n_rows, n_heads * head_dim) with row stride q_stride; out: (n_rows, n_heads * head_dim),
  //   contiguous
  void (*attention)(const float* q, int64_t q_stride, const AttentionShape& shape,
                    const BatchView& batch, const KvLayerView& cache, float* out,
                    ThreadPool& pool) = nullptr;

  // log_sum_exp: per row, max[r] = max of the row and sum[r] = Σ exp(z - max), in blocks of 4,096
  // from column 0, each Lanes(64), blocks by the balanced rule.   logits (n_rows, vocab), max, sum
  // (n_rows)
  void (*log_sum_exp)(const float* logits, int64_t n_rows, int64_t vocab, float* max, float* sum,
                      ThreadPool& pool) = nullptr;

  // elementary: y[i] = function(x[i]), as this set's operators compute it (numeric/elementary.h).
  // The engine has no use for it: it is here so that the self-test reaches every instantiation.
  // Null in a set that borrows the functions of another.   x, y (n)
  void (*elementary)(Elementary function, const float* x, int64_t n, float* y) = nullptr;
};

}  // namespace isobit

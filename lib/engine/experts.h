// The MLP of a layer with a mixture of experts: each row goes through the experts that the router
// picks for it, and their outputs combine in the contract's order whatever else is in the step.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layer_weights.h"
#include "tensor/aligned_floats.h"

namespace isobit {

// Grown to the largest step seen and kept.
struct ExpertBuffers {
  // Outputs that are kept at once: 128 MiB. A row's result does not depend on the rows beside it,
  // so where a long step is cut changes nothing.
  int64_t most_output_floats = int64_t{32} << 20;
  AlignedFloats router_logits;  // (n_rows, n_experts)
  AlignedFloats gathered;       // (rows of one expert, hidden_size)
  AlignedFloats gate_up;        // (rows of one expert, 2 * width)
  AlignedFloats activated;      // (rows of one expert, width)
  AlignedFloats outputs;        // of all experts, each (n_segments, its rows, hidden_size)
  std::vector<int32_t> ids;     // (n_rows, top_k)
  std::vector<float> weights;   // (n_rows, top_k)
};

// What the MLP does between its gate and up projections and its down projection: one of the gated
// activations of a kernel set.
void activate(const KernelSet& kernels, Activation activation, const float* gate_up, int64_t n_rows,
              int64_t width, float* y, ThreadPool& pool);

// out[r] = the mixture's output for row r of x; b.router_logits holds the router's scores
// afterwards.
//   x, out (n_rows, hidden_size)
void mix_experts(const LayerWeights& layer, const ModelConfig& config, const KernelSet& kernels,
                 const float* x, int64_t n_rows, float* out, ExpertBuffers& b, ThreadPool& pool);

}  // namespace isobit

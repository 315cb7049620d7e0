#include "engine/experts.h"

#include <algorithm>

namespace isobit {
namespace {

void grow(AlignedFloats& buffer, int64_t n) {
  if (buffer.size() < static_cast<size_t>(n)) buffer.resize(static_cast<size_t>(n));
}

// Some consecutive rows of a step and the choices of each.
struct Rows {
  const float* x;        // (n, hidden_size)
  const int32_t* ids;    // (n, top_k)
  const float* weights;  // (n, top_k)
  int64_t n;
};

class Mixture {
 public:
  Mixture(const LayerWeights& layer, const ModelConfig& config, const KernelSet& kernels,
          ExpertBuffers& buffers, ThreadPool& pool)
      : layer_(layer), config_(config), kernels_(kernels), b_(buffers), pool_(pool) {}

  void run(const Rows& rows, float* out) {
    const int64_t top_k = config_.experts.top_k, hidden = config_.hidden_size;
    const int64_t n_segments = config_.n_segments(), n_choices = rows.n * top_k;
    grow(b_.outputs, n_segments * n_choices * hidden);
    first_.assign(static_cast<size_t>(n_choices), nullptr);
    strides_.assign(static_cast<size_t>(n_choices), 0);
    float* output = b_.outputs.data();
    for (const auto& [expert, choices] : by_expert(rows)) {
      run_expert(layer_.experts[static_cast<size_t>(expert)], rows, choices, output);
      output += n_segments * static_cast<int64_t>(choices.size()) * hidden;
    }
    kernels_.combine_experts(
        {first_.data(), strides_.data(), rows.weights, rows.n, top_k, n_segments}, hidden, out,
        pool_);
  }

 private:
  struct Share {
    int32_t expert;
    std::vector<int64_t> choices;  // row * top_k + rank, ascending
  };

  std::vector<Share> by_expert(const Rows& rows) const {
    std::vector<Share> shares;
    std::vector<int64_t> of_expert(static_cast<size_t>(config_.experts.n), -1);
    for (int64_t i = 0; i < rows.n * config_.experts.top_k; ++i) {
      int64_t& share = of_expert[static_cast<size_t>(rows.ids[i])];
      if (share < 0) {
        share = static_cast<int64_t>(shares.size());
        shares.push_back({rows.ids[i], {}});
      }
      shares[static_cast<size_t>(share)].choices.push_back(i);
    }
    return shares;
  }

  void run_expert(const ExpertWeights& expert, const Rows& rows,
                  const std::vector<int64_t>& choices, float* output) {
    const auto n = static_cast<int64_t>(choices.size());
    const int64_t hidden = config_.hidden_size, width = config_.experts.width;
    grow(b_.gathered, n * hidden);
    grow(b_.gate_up, n * 2 * width);
    grow(b_.activated, n * width);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t choice = choices[static_cast<size_t>(i)];
      const float* row = rows.x + choice / config_.experts.top_k * hidden;
      std::copy(row, row + hidden, b_.gathered.data() + i * hidden);
      first_[static_cast<size_t>(choice)] = output + i * hidden;
      strides_[static_cast<size_t>(choice)] = n * hidden;
    }
    kernels_.matmul(*expert.gate_up, b_.gathered.data(), n, b_.gate_up.data(), pool_);
    activate(kernels_, config_.activation, b_.gate_up.data(), n, width, b_.activated.data(), pool_);
    kernels_.matmul_segments(*expert.down, b_.activated.data(), n, output, pool_);
  }

  const LayerWeights& layer_;
  const ModelConfig& config_;
  const KernelSet& kernels_;
  ExpertBuffers& b_;
  ThreadPool& pool_;
  std::vector<const float*> first_;
  std::vector<int64_t> strides_;
};

}  // namespace

void activate(const KernelSet& kernels, Activation activation, const float* gate_up, int64_t n_rows,
              int64_t width, float* y, ThreadPool& pool) {
  switch (activation) {
    case Activation::kSilu:
      return kernels.silu_mul(gate_up, n_rows, width, y, pool);
    case Activation::kGeluTanh:
      return kernels.gelu_mul(Gelu::kTanh, gate_up, n_rows, width, y, pool);
    case Activation::kGeluErf:
      return kernels.gelu_mul(Gelu::kErf, gate_up, n_rows, width, y, pool);
  }
}

void mix_experts(const LayerWeights& layer, const ModelConfig& config, const KernelSet& kernels,
                 const float* x, int64_t n_rows, float* out, ExpertBuffers& b, ThreadPool& pool) {
  const ExpertsConfig& experts = config.experts;
  grow(b.router_logits, n_rows * experts.n);
  b.ids.resize(static_cast<size_t>(n_rows * experts.top_k));
  b.weights.resize(b.ids.size());
  kernels.matmul(*layer.router, x, n_rows, b.router_logits.data(), pool);
  kernels.route(b.router_logits.data(), n_rows, experts.n, experts.top_k,
                experts.renormalise ? Renormalise::kYes : Renormalise::kNo, b.ids.data(),
                b.weights.data(), pool);
  const int64_t row_floats = experts.top_k * config.n_segments() * config.hidden_size;
  const int64_t most = std::max<int64_t>(1, b.most_output_floats / row_floats);
  Mixture mixture(layer, config, kernels, b, pool);
  for (int64_t first = 0; first < n_rows; first += most) {
    const Rows rows{x + first * config.hidden_size, b.ids.data() + first * experts.top_k,
                    b.weights.data() + first * experts.top_k, std::min(most, n_rows - first)};
    mixture.run(rows, out + first * config.hidden_size);
  }
}

}  // namespace isobit

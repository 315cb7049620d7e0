// The operators of a mixture of experts: which experts a row goes to, and how their outputs meet
// (numeric contract section 3, row router).
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernels/cpu/reference_operators.h"
#include "numeric/lanes_scalar.h"
#include "numeric/sums.h"

namespace isobit::reference {
namespace {

// p (n): softmax of z.
void softmax(const float* z, int64_t n, float* p) {
  float largest = z[0];
  for (int64_t i = 1; i < n; ++i) largest = z[i] > largest ? z[i] : largest;
  Lanes<64> sum;
  for (int64_t i = 0; i < n; ++i) {
    p[i] = exp_f32(z[i] - largest);
    sum.add(static_cast<size_t>(i), p[i]);
  }
  const float total = sum.fold();
  for (int64_t i = 0; i < n; ++i) p[i] = p[i] / total;
}

// The largest entry that is not taken yet; of equal ones, and of NaN, the lowest index.
int64_t largest_left(const float* p, int64_t n, const std::vector<bool>& taken) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (!taken[static_cast<size_t>(i)] && (best < 0 || p[i] > p[best])) best = i;
  }
  return best;
}

void route_row(const float* logits, int64_t n_experts, int64_t top_k, Renormalise renormalise,
               int32_t* ids, float* weights) {
  std::vector<float> p(static_cast<size_t>(n_experts));
  std::vector<bool> taken(static_cast<size_t>(n_experts));
  softmax(logits, n_experts, p.data());
  float sum = 0.0f;
  for (int64_t rank = 0; rank < top_k; ++rank) {
    const int64_t id = largest_left(p.data(), n_experts, taken);
    taken[static_cast<size_t>(id)] = true;
    ids[rank] = static_cast<int32_t>(id);
    weights[rank] = p[static_cast<size_t>(id)];
    sum = sum + weights[rank];
  }
  if (renormalise == Renormalise::kNo) return;
  for (int64_t rank = 0; rank < top_k; ++rank) weights[rank] = weights[rank] / sum;
}

}  // namespace

void route(const float* logits, int64_t n_rows, int64_t n_experts, int64_t top_k,
           Renormalise renormalise, int32_t* ids, float* weights, ThreadPool& pool) {
  ISOBIT_REQUIRE(top_k >= 1 && top_k <= n_experts);
  pool.run(static_cast<size_t>(n_rows), [&](size_t row, int) {
    const auto r = static_cast<int64_t>(row);
    route_row(logits + r * n_experts, n_experts, top_k, renormalise, ids + r * top_k,
              weights + r * top_k);
  });
}

void combine_experts(const ExpertOutputs& outputs, int64_t n_out, float* y, ThreadPool& pool) {
  const int64_t top_k = outputs.top_k;
  pool.run(static_cast<size_t>(outputs.n_rows), [&](size_t row, int) {
    const auto r = static_cast<int64_t>(row);
    std::vector<float> segments(static_cast<size_t>(outputs.n_segments));
    for (int64_t n = 0; n < n_out; ++n) {
      for (int64_t s = 0; s < outputs.n_segments; ++s) {
        float chain = 0.0f;
        for (int64_t choice = r * top_k; choice < (r + 1) * top_k; ++choice) {
          const float out = outputs.first[choice][s * outputs.segment_stride[choice] + n];
          chain = std::fma(outputs.weights[choice], out, chain);
        }
        segments[static_cast<size_t>(s)] = chain;
      }
      y[r * n_out + n] = balanced_sum(segments);
    }
  });
}

}  // namespace isobit::reference

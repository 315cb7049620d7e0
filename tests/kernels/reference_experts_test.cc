// What `reference` computes for gelu_mul, soft_cap, norm_heads and a mixture of experts: close to
// binary64, and the contract's order by hand.
#include <doctest/doctest.h>

#include "kernels/cpu/reference.h"
#include "numeric/lanes_scalar.h"
#include "numeric/sums.h"
#include "tests/kernels/reference_case.h"

namespace isobit {
namespace {

using test::bits_of;
using test::rough_values;

const KernelSet& kSet = reference_kernel_set();

TEST_CASE("gelu_mul is close to binary64 in both forms") {
  ThreadPool pool(1);
  const std::vector<float> gate_up = rough_values(400, 5);
  for (const Gelu form : {Gelu::kTanh, Gelu::kErf}) {
    std::vector<float> y(200);
    kSet.gelu_mul(form, gate_up.data(), 1, 200, y.data(), pool);
    for (size_t i = 0; i < 200; ++i) {
      const double g = gate_up[i], u = gate_up[200 + i];
      const double inner = std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g);
      const double expected = form == Gelu::kTanh
                                  ? 0.5 * g * (1 + std::tanh(inner)) * u
                                  : 0.5 * g * (1 + std::erf(g / std::sqrt(2.0))) * u;
      CHECK(std::fabs(y[i] - expected) < 1e-6 * (1 + std::fabs(expected)));
    }
  }
}

TEST_CASE("soft_cap keeps small values and stops large ones at t") {
  ThreadPool pool(1);
  std::vector<float> x = {0.0f, 1e-3f, -15.0f, 30.0f, 1e6f, -1e6f};
  kSet.soft_cap(x.data(), 6, 30.0f, pool);
  CHECK(x[0] == 0.0f);
  CHECK(x[1] == doctest::Approx(1e-3));
  CHECK(x[2] == doctest::Approx(30 * std::tanh(-0.5)));
  CHECK(x[3] == doctest::Approx(30 * std::tanh(1.0)));
  CHECK(x[4] == 30.0f);
  CHECK(x[5] == -30.0f);
}

TEST_CASE("norm_heads norms each head as rms_norm norms a row") {
  ThreadPool pool(1);
  const std::vector<float> w = rough_values(20, 6);
  std::vector<float> x = rough_values(2 * 67, 7), rows(2 * 60), normed(2 * 60);
  const std::vector<float> before = x;
  for (size_t r = 0; r < 2; ++r)
    std::copy_n(x.begin() + static_cast<long>(67 * r), 60,
                rows.begin() + static_cast<long>(60 * r));
  kSet.rms_norm(rows.data(), w.data(), 1e-6f, 6, 20, normed.data(), pool);
  kSet.norm_heads(x.data(), 67, 3, 20, w.data(), 1e-6f, 2, pool);
  for (size_t r = 0; r < 2; ++r) {
    for (size_t i = 0; i < 67; ++i)
      CHECK(bits_of(x[67 * r + i]) == bits_of(i < 60 ? normed[60 * r + i] : before[67 * r + i]));
  }
}

TEST_CASE("route takes the largest probabilities, ties to the lowest id") {
  ThreadPool pool(1);
  const std::vector<float> logits = {0.0f, 2.0f, 2.0f, -1.0f, 2.0f, 1.0f};
  std::vector<int32_t> ids(4);
  std::vector<float> weights(4);
  kSet.route(logits.data(), 1, 6, 4, Renormalise::kNo, ids.data(), weights.data(), pool);
  CHECK(ids == std::vector<int32_t>{1, 2, 4, 5});
  double total = 0;
  for (const float z : logits) total += std::exp(static_cast<double>(z) - 2);
  CHECK(weights[0] == doctest::Approx(1 / total));
  CHECK(weights[3] == doctest::Approx(std::exp(-1.0) / total));

  std::vector<float> renormalised(4);
  kSet.route(logits.data(), 1, 6, 4, Renormalise::kYes, ids.data(), renormalised.data(), pool);
  const float sum = ((weights[0] + weights[1]) + weights[2]) + weights[3];
  for (size_t i = 0; i < 4; ++i) CHECK(bits_of(renormalised[i]) == bits_of(weights[i] / sum));
}

TEST_CASE("route: the sum is Lanes(64), and the largest score of all is taken off first") {
  ThreadPool pool(1);
  std::vector<float> logits = rough_values(130, 11);
  logits[129] = 200.0f;  // without it, exp of this one would overflow
  for (int shift = 0; shift < 2; ++shift, logits[129] = 1.0f) {
    float largest = logits[0];
    for (const float z : logits) largest = std::max(largest, z);
    Lanes<64> sum;
    for (size_t i = 0; i < logits.size(); ++i) sum.add(i, exp_f32(logits[i] - largest));
    std::vector<int32_t> ids(130);
    std::vector<float> weights(130);
    kSet.route(logits.data(), 1, 130, 130, Renormalise::kNo, ids.data(), weights.data(), pool);
    const float total = sum.fold();
    for (size_t rank = 0; rank < 130; ++rank) {
      const float z = logits[static_cast<size_t>(ids[rank])];
      CHECK(bits_of(weights[rank]) == bits_of(exp_f32(z - largest) / total));
    }
  }
}

TEST_CASE("combine_experts: chains in rank order, segments by the balanced rule") {
  ThreadPool pool(1);
  const std::vector<float> values = rough_values(2 * 3 * 2, 9);  // (choice, segment, n_out)
  const float* first[] = {values.data(), values.data() + 6};
  const int64_t strides[] = {2, 2};
  const float weights[] = {0.7f, 0.3f};
  std::vector<float> y(2);
  kSet.combine_experts({first, strides, weights, 1, 2, 3}, 2, y.data(), pool);
  for (size_t n = 0; n < 2; ++n) {
    float s[3];
    for (size_t i = 0; i < 3; ++i) {
      s[i] = std::fma(0.3f, values[6 + 2 * i + n], std::fma(0.7f, values[2 * i + n], 0.0f));
    }
    CHECK(bits_of(y[n]) == bits_of((s[0] + s[1]) + s[2]));
  }
}

}  // namespace
}  // namespace isobit

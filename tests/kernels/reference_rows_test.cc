// The row operators of `reference` against their one-line definitions, and the edges that a vector
// version gets wrong.
#include <doctest/doctest.h>

#include <limits>

#include "kernels/cpu/reference.h"
#include "numeric/lanes_scalar.h"
#include "numeric/sums.h"
#include "tests/kernels/reference_case.h"

namespace isobit {
namespace {

using test::bits_of;
using test::rough_values;

const KernelSet& kSet = reference_kernel_set();

TEST_CASE("rms_norm: four roundings for the inverse, two for each element; in place too") {
  ThreadPool pool(2);
  for (const int64_t dim : {1, 63, 64, 65, 576}) {
    const std::vector<float> x = rough_values(2 * dim, 1), w = rough_values(dim, 2);
    std::vector<float> y(x.size());
    kSet.rms_norm(x.data(), w.data(), 1e-5f, 2, dim, y.data(), pool);
    for (int64_t r = 0; r < 2; ++r) {
      float lanes[64] = {};
      for (int64_t i = 0; i < dim; ++i) {
        lanes[i % 64] = std::fma(x[static_cast<size_t>(r * dim + i)],
                                 x[static_cast<size_t>(r * dim + i)], lanes[i % 64]);
      }
      for (int half = 32; half > 0; half /= 2) {
        for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
      }
      const float mean = lanes[0] / static_cast<float>(dim),
                  inverse = 1.0f / std::sqrt(mean + 1e-5f);
      for (int64_t i = 0; i < dim; ++i) {
        const auto e = static_cast<size_t>(r * dim + i);
        CHECK(bits_of(y[e]) == bits_of((x[e] * inverse) * w[static_cast<size_t>(i)]));
      }
    }
    std::vector<float> in_place = x;
    kSet.rms_norm(in_place.data(), w.data(), 1e-5f, 2, dim, in_place.data(), pool);
    CHECK(bits_of(in_place) == bits_of(y));
  }
}

TEST_CASE("residual is one add") {
  ThreadPool pool(1);
  std::vector<float> x = rough_values(100, 3);
  const std::vector<float> before = x, f = rough_values(100, 4);
  kSet.residual(x.data(), f.data(), 100, pool);
  for (size_t i = 0; i < 100; ++i) CHECK(bits_of(x[i]) == bits_of(before[i] + f[i]));
}

TEST_CASE("silu_mul: gate and up are the halves of a row") {
  ThreadPool pool(1);
  const std::vector<float> gate_up = {-200.0f, 0.0f, 1.0f, 90.0f, 2.0f, 3.0f, 0.5f, 1.0f};
  std::vector<float> y(4);
  kSet.silu_mul(gate_up.data(), 1, 4, y.data(), pool);
  CHECK(bits_of(y[0]) == 0x80000000);  // -200 / inf
  CHECK(y[1] == 0.0f);
  CHECK(bits_of(y[2]) == bits_of((1.0f / (1.0f + exp_f32(-1.0f))) * 0.5f));
  CHECK(y[3] == 90.0f);
}

TEST_CASE("rope rotates elements i and i + head_dim / 2 by the position's entry") {
  ThreadPool pool(1);
  const std::vector<float> cos = {1, 1, 0.5f, 0.25f},
                           sin = {0, 0, 0.75f, -0.5f};  // two positions, head_dim 4
  const RopeView table{cos.data(), sin.data(), 4, 4};
  const int32_t positions[] = {1, 0}, sequences[] = {0, 1};
  const BatchView batch{2, positions, sequences, 2, nullptr};
  std::vector<float> x = rough_values(2 * 10, 5);  // one head, stride 10
  const std::vector<float> before = x;
  kSet.rope(x.data(), 10, 1, table, batch, pool);
  CHECK(bits_of(x[0]) == bits_of(std::fma(before[0], 0.5f, -(before[2] * 0.75f))));
  CHECK(bits_of(x[2]) == bits_of(std::fma(before[2], 0.5f, before[0] * 0.75f)));
  CHECK(bits_of(x[1]) == bits_of(std::fma(before[1], 0.25f, -(before[3] * -0.5f))));
  CHECK(x[4] == before[4]);
  CHECK(x[10] == before[10]);
}

TEST_CASE("log_sum_exp: the largest logit and the blocked sum") {
  ThreadPool pool(2);
  const int64_t vocab = 5000;
  std::vector<float> logits = rough_values(2 * vocab, 6);
  logits[static_cast<size_t>(vocab + 17)] = 30.0f;
  std::vector<float> max(2), sum(2);
  kSet.log_sum_exp(logits.data(), 2, vocab, max.data(), sum.data(), pool);
  CHECK(max[1] == 30.0f);
  Lanes<64> blocks[2];
  double truth = 0;
  for (int64_t i = 0; i < vocab; ++i) {
    const float p = exp_f32(logits[static_cast<size_t>(vocab + i)] - 30.0f);
    blocks[i / 4096].add(static_cast<size_t>(i % 4096), p);
    truth += std::exp(static_cast<double>(logits[static_cast<size_t>(vocab + i)]) - 30.0);
  }
  CHECK(bits_of(sum[1]) == bits_of(blocks[0].fold() + blocks[1].fold()));
  CHECK(sum[1] == doctest::Approx(truth).epsilon(1e-6));
}

}  // namespace
}  // namespace isobit

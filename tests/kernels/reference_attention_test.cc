// attention of `reference`: close to softmax in binary64, exactly the contract's order, and
// indifferent to everything that a schedule may change.
#include <doctest/doctest.h>

#include "kernels/cpu/reference.h"
#include "numeric/lanes_scalar.h"
#include "tensor/half.h"
#include "tests/kernels/reference_case.h"

namespace isobit {
namespace {

using test::attend;
using test::bits_of;
using test::CachedSequences;
using test::rough_values;

const KernelSet& kSet = reference_kernel_set();
const AttentionShape kShape{.n_heads = 4,
                            .n_kv_heads = 2,
                            .head_dim = 8,
                            .score_scale = static_cast<float>(1.4426950408889634 / std::sqrt(8.0))};
constexpr int64_t kQueryWidth = 4 * 8, kKvWidth = 2 * 8;

std::vector<float> slice(const std::vector<float>& v, size_t first, size_t n) {
  return {v.begin() + static_cast<long>(first), v.begin() + static_cast<long>(first + n)};
}

// Softmax over positions 0..last in binary64, from the unrounded keys and values.
std::vector<double> softmax_attention(const std::vector<float>& k, const std::vector<float>& v,
                                      const float* q, int64_t kv_head, int64_t last) {
  std::vector<double> scores, out(8);
  double largest = -1e300, total = 0;
  const auto at = [&](const std::vector<float>& m, int64_t p, int64_t d) {
    return static_cast<double>(m[static_cast<size_t>(p * kKvWidth + kv_head * 8 + d)]);
  };
  for (int64_t p = 0; p <= last; ++p) {
    double dot = 0;
    for (int64_t d = 0; d < 8; ++d) dot += static_cast<double>(q[d]) * at(k, p, d);
    scores.push_back(dot / std::sqrt(8.0));
    largest = std::max(largest, scores.back());
  }
  for (int64_t p = 0; p <= last; ++p) {
    const double weight = std::exp(scores[static_cast<size_t>(p)] - largest);
    total += weight;
    for (int64_t d = 0; d < 8; ++d) out[static_cast<size_t>(d)] += weight * at(v, p, d);
  }
  for (double& o : out) o /= total;
  return out;
}

TEST_CASE("close to softmax in binary64, for lengths around every boundary") {
  ThreadPool pool(2);
  for (const int64_t length : {1, 15, 16, 17, 127, 128, 129, 255, 256, 257, 400}) {
    const CachedSequences cached(kSet, KvDType::kF32, 2, 8, {length}, 1, pool, {10});
    const std::vector<float> q = rough_values(kQueryWidth, 20),
                             out = attend(kSet, cached, kShape, q, pool);
    const std::vector<float> k = rough_values(length * kKvWidth, 10),
                             v = rough_values(length * kKvWidth, 11);
    for (int64_t h = 0; h < 4; ++h) {
      const std::vector<double> truth =
          softmax_attention(k, v, &q[static_cast<size_t>(h * 8)], h / 2, length - 1);
      for (size_t d = 0; d < 8; ++d) {
        CHECK(std::fabs(out[static_cast<size_t>(h) * 8 + d] - truth[d]) < 2e-6);
      }
    }
  }
}

TEST_CASE("two positions, by hand") {
  ThreadPool pool(1);
  const AttentionShape shape{.n_heads = 1, .n_kv_heads = 1, .head_dim = 2, .score_scale = 0.75f};
  const CachedSequences cached(kSet, KvDType::kF32, 1, 2, {2}, 1, pool, {30});
  const std::vector<float> k = rough_values(4, 30), v = rough_values(4, 31), q = {1.25f, -0.5f};
  const auto score = [&](size_t p) {
    return std::fma(q[1], k[2 * p + 1], std::fma(q[0], k[2 * p], 0.0f)) * 0.75f;
  };
  const float m = std::ceil(std::max(score(0), score(1)));
  const float p0 = exp2_f32(score(0) - m), p1 = exp2_f32(score(1) - m), l = p0 + p1;
  const std::vector<float> out = attend(kSet, cached, shape, q, pool);
  for (size_t d = 0; d < 2; ++d) {
    CHECK(bits_of(out[d]) == bits_of(std::fma(p1, v[2 + d], std::fma(p0, v[d], 0.0f)) / l));
  }
}

TEST_CASE(
    "a row does not depend on neighbours, on the step's other rows, on blocks or on threads") {
  ThreadPool one(1), three(3);
  const std::vector<float> q = rough_values(40 * kQueryWidth, 40);
  const CachedSequences together(kSet, KvDType::kF16, 2, 8, {130, 300, 17}, 20, three,
                                 {50, 60, 70});
  REQUIRE(together.positions.size() == 57);
  std::vector<float> q_all = rough_values(57 * kQueryWidth, 41);
  std::copy(q.begin(), q.begin() + 20 * kQueryWidth,
            q_all.begin() + 20 * kQueryWidth);  // rows of the second sequence
  const std::vector<float> all = attend(kSet, together, kShape, q_all, three);
  const CachedSequences alone(kSet, KvDType::kF16, 2, 8, {300}, 20, one, {60}, 5);
  const std::vector<float> rows = attend(kSet, alone, kShape, slice(q, 0, 20 * kQueryWidth), one);
  CHECK(bits_of(rows) == bits_of(slice(all, 20 * kQueryWidth, 20 * kQueryWidth)));
  const CachedSequences last(kSet, KvDType::kF16, 2, 8, {300}, 1, one, {60});
  CHECK(bits_of(attend(kSet, last, kShape, slice(q, 19 * kQueryWidth, kQueryWidth), one)) ==
        bits_of(slice(rows, 19 * kQueryWidth, kQueryWidth)));
  CHECK(test::golden(rows) == 0xd733ee0766021930);
}

TEST_CASE("a split far below the maximum is dropped, not turned into subnormal dust") {
  ThreadPool pool(1);
  const AttentionShape shape{.n_heads = 1, .n_kv_heads = 1, .head_dim = 1, .score_scale = 1.0f};
  CachedSequences cached(kSet, KvDType::kF32, 1, 1, {129}, 1, pool, {80});
  const int32_t positions[] = {128}, sequences[] = {0};
  const BatchView row{1, positions, sequences, 1, cached.table_pointers.data()};
  const auto with_last_score = [&](float s) {
    std::vector<int32_t> all(129), of(129);
    std::vector<float> k(129), v(129, 2.0f);
    for (int p = 0; p < 129; ++p) all[static_cast<size_t>(p)] = p;
    k[128] = s;
    v[128] = 1.0f;
    const BatchView rows{129, all.data(), of.data(), 1, cached.table_pointers.data()};
    kSet.kv_write(k.data(), v.data(), 1, rows, cached.cache, pool);
    const float q = 1.0f;
    float out = 0;
    kSet.attention(&q, 1, shape, row, cached.cache, &out, pool);
    return out;
  };
  CHECK(with_last_score(0.0f) == doctest::Approx((128 * 2.0 + 1) / 129));
  CHECK(with_last_score(127.0f) == 1.0f);
  CHECK(with_last_score(-127.0f) == 2.0f);
  CHECK(with_last_score(-1000.0f) == 2.0f);
}

TEST_CASE("kv_write rounds to the cache's dtype and keeps to its own position") {
  ThreadPool pool(1);
  for (const KvDType dtype : {KvDType::kF16, KvDType::kBF16, KvDType::kF32}) {
    const CachedSequences cached(kSet, dtype, 1, 4, {1}, 1, pool, {90});
    const std::vector<float> v = rough_values(4, 91), q = rough_values(4, 92);
    const AttentionShape shape{.n_heads = 1, .n_kv_heads = 1, .head_dim = 4, .score_scale = 0.0f};
    const std::vector<float> out = attend(kSet, cached, shape, q, pool);  // one position: weight 1
    for (size_t d = 0; d < 4; ++d) {
      const float expected = dtype == KvDType::kF16    ? f32_from_f16(f16_from_f32(v[d]))
                             : dtype == KvDType::kBF16 ? f32_from_bf16(bf16_from_f32(v[d]))
                                                       : v[d];
      CHECK(bits_of(out[d]) == bits_of(expected));
    }
    const size_t entry = dtype == KvDType::kF32 ? 4 : 2;
    for (size_t i = 4 * entry; i < cached.values.size(); ++i) {
      REQUIRE(cached.values[i] == std::byte{0xFF});
    }
  }
}

}  // namespace
}  // namespace isobit

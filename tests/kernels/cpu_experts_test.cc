// norm_heads, gelu_mul, soft_cap, and the operators of a mixture of experts: every cpu variant
// against `reference`, bit for bit.
#include <algorithm>

#include "numeric/sums.h"
#include "tests/kernels/cpu_variants.h"

namespace isobit {
namespace {

constexpr int64_t kRowCounts[] = {1, 2, 3, 17, 45};

TEST_CASE("cpu norm_heads has the bits of reference and leaves the rest of the row alone") {
  Numbers numbers(81);
  for (const int64_t dim : {2, 20, 64, 80, 128, 256}) {
    for (const int64_t n_rows : kRowCounts) {
      ThreadPool pool(1 + static_cast<int>(numbers.below(3)));
      const int64_t n_heads = n_rows % 2 ? 5 : 17, stride = n_heads * dim + 7;
      const std::vector<float> x = numbers.many(static_cast<size_t>(n_rows * stride));
      const std::vector<float> w = numbers.many(static_cast<size_t>(dim));
      std::vector<float> expected = x;
      reference_kernel_set().norm_heads(expected.data(), stride, n_heads, dim, w.data(), 1e-6f,
                                        n_rows, pool);
      for (const KernelSet* set : cpu_variants()) {
        std::vector<float> y = x;
        set->norm_heads(y.data(), stride, n_heads, dim, w.data(), 1e-6f, n_rows, pool);
        INFO(set->isa, " dim=", dim, " rows=", n_rows);
        CHECK(first_difference(expected, y) == "");
      }
    }
  }
}

TEST_CASE("cpu gelu_mul has the bits of reference in both forms, far out too") {
  Numbers numbers(82);
  for (const Gelu form : {Gelu::kTanh, Gelu::kErf}) {
    for (const int64_t width : {1, 15, 31, 100, 640, 2049}) {
      for (const int64_t n_rows : kRowCounts) {
        ThreadPool pool(1 + static_cast<int>(numbers.below(3)));
        std::vector<float> gate_up = numbers.many(static_cast<size_t>(2 * n_rows * width));
        for (float& g : gate_up) {
          if (numbers.below(8) == 0) g = numbers.ordinary() * 20.0f;
        }
        std::vector<float> expected(static_cast<size_t>(n_rows * width)), y(expected.size());
        reference_kernel_set().gelu_mul(form, gate_up.data(), n_rows, width, expected.data(), pool);
        for (const KernelSet* set : cpu_variants()) {
          set->gelu_mul(form, gate_up.data(), n_rows, width, y.data(), pool);
          INFO(set->isa, " rows=", n_rows, " width=", width, " form=", static_cast<int>(form));
          CHECK(first_difference(expected, y) == "");
        }
      }
    }
  }
}

TEST_CASE("cpu soft_cap has the bits of reference") {
  Numbers numbers(83);
  for (const size_t n : {size_t{1}, size_t{16}, size_t{100}, size_t{1024}, size_t{20001}}) {
    ThreadPool pool(1 + static_cast<int>(numbers.below(3)));
    std::vector<float> x = numbers.many(n);
    for (float& e : x) e = numbers.below(2) ? numbers.ordinary() * 40.0f : e;
    std::vector<float> expected = x;
    reference_kernel_set().soft_cap(expected.data(), static_cast<int64_t>(n), 30.0f, pool);
    for (const KernelSet* set : cpu_variants()) {
      std::vector<float> y = x;
      set->soft_cap(y.data(), static_cast<int64_t>(n), 30.0f, pool);
      INFO(set->isa, " n=", n);
      CHECK(first_difference(expected, y) == "");
    }
  }
}

TensorView matrix_view(const std::vector<float>& values, int64_t n_out, int64_t n_in) {
  TensorView view;
  view.shape = {n_out, n_in};
  view.bytes = std::as_bytes(std::span(values));
  return view;
}

TEST_CASE("cpu matmul_segments has the bits of reference, and its segments make up matmul") {
  Numbers numbers(84);
  for (const int64_t n_segments : {1, 2, 3, 6, 24}) {
    for (const int64_t n_rows : kRowCounts) {
      ThreadPool pool(1 + static_cast<int>(numbers.below(3)));
      const int64_t n_in = n_segments * 160, n_out = 77;
      const std::vector<float> w = numbers.many(static_cast<size_t>(n_out * n_in));
      const std::vector<float> x = numbers.many(static_cast<size_t>(n_rows * n_in));
      const TensorView view = matrix_view(w, n_out, n_in);
      const MatrixPart part{.weight = &view, .bias = {}};
      const auto run = [&](const KernelSet& set) {
        const auto packed = set.pack({&part, 1}, n_segments, pool);
        std::vector<float> y(static_cast<size_t>(n_segments * n_rows * n_out));
        set.matmul_segments(*packed, x.data(), n_rows, y.data(), pool);
        return y;
      };
      const std::vector<float> expected = run(reference_kernel_set());
      for (const KernelSet* set : cpu_variants()) {
        INFO(set->isa, " R=", n_segments, " rows=", n_rows);
        CHECK(first_difference(expected, run(*set)) == "");
      }
      const auto packed = reference_kernel_set().pack({&part, 1}, n_segments, pool);
      std::vector<float> whole(static_cast<size_t>(n_rows * n_out)), sums(whole.size());
      reference_kernel_set().matmul(*packed, x.data(), n_rows, whole.data(), pool);
      for (size_t i = 0; i < sums.size(); ++i) {
        std::vector<float> parts;
        for (int64_t s = 0; s < n_segments; ++s)
          parts.push_back(expected[static_cast<size_t>(s) * sums.size() + i]);
        sums[i] = balanced_sum(parts);
      }
      CHECK(first_difference(whole, sums) == "");
    }
  }
}

// Rows of experts' outputs, scattered as an engine scatters them.
struct Outputs {
  std::vector<float> values, weights;
  std::vector<const float*> first;
  std::vector<int64_t> strides;
  ExpertOutputs view;

  Outputs(int64_t n_rows, int64_t top_k, int64_t n_segments, int64_t n_out, Numbers& numbers) {
    const int64_t n = n_rows * top_k;
    values = numbers.many(static_cast<size_t>(n * n_segments * n_out));
    weights = numbers.many(static_cast<size_t>(n));
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::shuffle(order.begin(), order.end(), std::minstd_rand(numbers.bits()));
    for (const int64_t at : order) {
      first.push_back(values.data() + at * n_out);
      strides.push_back(n * n_out);
    }
    view = {first.data(), strides.data(), weights.data(), n_rows, top_k, n_segments};
  }
};

TEST_CASE("cpu combine_experts has the bits of reference") {
  Numbers numbers(85);
  for (const int64_t n_segments : {1, 2, 3, 8, 12, 24}) {
    for (const int64_t top_k : {1, 2, 8}) {
      for (const int64_t n_out : {1, 33, 160}) {
        ThreadPool pool(1 + static_cast<int>(numbers.below(3)));
        const Outputs outputs(5, top_k, n_segments, n_out, numbers);
        std::vector<float> expected(static_cast<size_t>(5 * n_out)), y(expected.size());
        reference_kernel_set().combine_experts(outputs.view, n_out, expected.data(), pool);
        for (const KernelSet* set : cpu_variants()) {
          set->combine_experts(outputs.view, n_out, y.data(), pool);
          INFO(set->isa, " R=", n_segments, " top_k=", top_k, " n_out=", n_out);
          CHECK(first_difference(expected, y) == "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace isobit

// Every operator of every cpu variant against `reference`, the same bits, over the shapes of
// numeric contract section 8: all row counts, ragged lengths, segments, cache lengths, thread
// counts 1 to 8, rows permuted, and values chosen to break rounding. A covering design
// (covering_design.h) keeps every pair of those and leaves out most of their product.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "tests/kernels/attention_step.h"
#include "tests/kernels/covering_design.h"
#include "tests/kernels/cpu_variants.h"
#include "tests/kernels/stored_matrix.h"

namespace isobit {
namespace {

constexpr int64_t kRowCounts[] = {1,  2,  3,  4,  7,  8,   9,   16,  17,  31, 32,
                                  33, 44, 45, 64, 65, 128, 129, 255, 256, 257};
constexpr int64_t kMostThreads = 8;

ThreadPool& pool_of(size_t level) {
  static std::array<std::unique_ptr<ThreadPool>, kMostThreads> pools;
  if (!pools[level]) pools[level] = std::make_unique<ThreadPool>(static_cast<int>(level) + 1);
  return *pools[level];
}

enum class Values { kMixed, kSubnormal, kCancelling, kZerosAndTies };
constexpr Values kValues[] = {Values::kMixed, Values::kSubnormal, Values::kCancelling,
                              Values::kZerosAndTies};

// Neighbours in pairs, for sums that cancel: v, then -v but for its last bits.
float nearly_minus(float v, Numbers& numbers) {
  return -v * (1.0f + static_cast<float>(numbers.below(4)) * 0x1p-23f);
}

std::vector<float> values(Values kind, size_t n, Numbers& numbers) {
  std::vector<float> out = numbers.many(n);
  for (size_t i = 0; i < n; ++i) {
    float& v = out[i];
    switch (kind) {
      case Values::kMixed:
        break;
      case Values::kSubnormal:
        v = numbers.ordinary() * 0x1p-127f;
        break;
      case Values::kCancelling:
        v = i % 2 ? nearly_minus(out[i - 1], numbers) : numbers.ordinary() * 0x1p15f;
        break;
      case Values::kZerosAndTies: {
        // Odd multiples of half an ulp of 1 beside whole numbers: sums land between two floats.
        const float choices[] = {0.0f, -0.0f, 1.0f, -1.0f, 0x1p-24f, -0x1p-24f, 0x1.8p-23f, 3.0f};
        v = choices[numbers.below(8)];
        break;
      }
    }
  }
  return out;
}

std::vector<size_t> permutation(size_t n, Numbers& numbers) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = n; i > 1; --i)
    std::swap(order[i - 1], order[numbers.below(static_cast<uint32_t>(i))]);
  return order;
}

// Row i of the result is row order[i] of `rows`.
std::vector<float> permuted(const std::vector<float>& rows, const std::vector<size_t>& order) {
  const size_t width = rows.size() / order.size();
  std::vector<float> out;
  out.reserve(rows.size());
  for (const size_t r : order)
    out.insert(out.end(), rows.begin() + static_cast<long>(r * width),
               rows.begin() + static_cast<long>((r + 1) * width));
  return out;
}

// The bits of reference on rows as given, against every set on the same rows in another order:
// "" or the first difference. run(set, rows): (n_rows, ...) for (n_rows, ...).
template <class Run>
std::string permuted_difference(std::span<const KernelSet* const> sets,
                                const std::vector<float>& rows, size_t n_rows, Numbers& numbers,
                                const Run& run) {
  const std::vector<size_t> order = permutation(n_rows, numbers);
  const std::vector<float> expected = permuted(run(reference_kernel_set(), rows), order);
  const std::vector<float> moved = permuted(rows, order);
  for (const KernelSet* set : sets) {
    const std::string difference = first_difference(expected, run(*set, moved));
    if (!difference.empty()) return set->isa + ": " + difference;
  }
  return {};
}

template <class Run>
void check_permuted(const std::vector<float>& rows, size_t n_rows, Numbers& numbers,
                    const std::string& what, const Run& run) {
  const std::string difference = permuted_difference(cpu_variants(), rows, n_rows, numbers, run);
  if (!difference.empty()) FAIL_CHECK(what << ", rows permuted: " << difference);
}

std::string numbers_text(std::initializer_list<std::pair<const char*, int64_t>> named) {
  std::string text;
  for (const auto& [name, value] : named)
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(value);
  return text;
}

// ---- matmul ----

constexpr int64_t kLengths[] = {1, 31, 97, 127, 128, 129, 160, 255, 257, 401, 640, 1000};
constexpr int64_t kColumns[] = {1, 15, 17, 31, 32, 33, 45, 64, 70, 100};
constexpr int64_t kSegments[] = {1, 2, 3, 4, 8};

// The next length that the dtype can store and the segments divide.
int64_t fitting_length(int64_t n_in, DType dtype, int64_t n_segments) {
  const int64_t step = std::lcm(static_cast<int64_t>(traits(dtype).block_elems), n_segments);
  return (n_in + step - 1) / step * step;
}

// For cancelling x: columns 2k and 2k+1 of a plain matrix get the same weight.
void pair_columns(Stored& w) {
  const size_t n = traits(w.view.dtype).block_bytes;
  const size_t row = w.view.row_bytes();
  for (size_t at = 0; at < w.bytes.size(); at += row) {
    for (size_t k = 0; k + 2 * n <= row; k += 2 * n)
      std::copy_n(w.bytes.begin() + static_cast<long>(at + k), n,
                  w.bytes.begin() + static_cast<long>(at + k + n));
  }
}

TEST_CASE("matmul: every pair of dtype, rows, K, N, segments, threads and kind of values") {
  Numbers numbers(61);
  const CoveringDesign design(
      {std::size(kDTypes), std::size(kRowCounts), std::size(kLengths), std::size(kColumns),
       std::size(kSegments), kMostThreads, std::size(kValues)},
      61);
  for (const DesignCase& c : design.cases()) {
    const DType dtype = kDTypes[c[0]];
    const int64_t m = kRowCounts[c[1]], n_out = kColumns[c[3]], n_segments = kSegments[c[4]];
    const int64_t n_in = fitting_length(kLengths[c[2]], dtype, n_segments);
    Stored w = random_matrix(dtype, n_out, n_in, numbers);
    if (kValues[c[6]] == Values::kCancelling && !traits(dtype).quantised) pair_columns(w);
    const MatrixPart part{&w.view, {}};
    ThreadPool& pool = pool_of(c[5]);
    const auto x = values(kValues[c[6]], static_cast<size_t>(m * n_in), numbers);
    const auto what = std::string(name(dtype)) + " " +
                      numbers_text({{"M", m},
                                    {"K", n_in},
                                    {"N", n_out},
                                    {"R", n_segments},
                                    {"threads", pool.n_threads()},
                                    {"values", static_cast<int64_t>(c[6])}});
    check_permuted(x, static_cast<size_t>(m), numbers, what,
                   [&](const KernelSet& set, const auto& rows) {
                     const auto packed = set.pack({&part, 1}, n_segments, pool);
                     std::vector<float> y(static_cast<size_t>(m * n_out), 12345.0f);
                     set.matmul(*packed, rows.data(), m, y.data(), pool);
                     return y;
                   });
  }
  std::printf("matmul: %zu cases\n", design.cases().size());
}

// ---- attention ----

constexpr int64_t kCacheLengths[] = {1, 127, 128, 129, 255, 256, 257, 1000};
constexpr KvDType kCacheDTypes[] = {KvDType::kF16, KvDType::kF32, KvDType::kBF16};
struct Heads {
  int64_t n_heads, n_kv_heads, head_dim;
};
constexpr Heads kHeads[] = {{4, 2, 20}, {3, 1, 64}, {2, 2, 33}, {6, 1, 16}};
constexpr float kKeyScales[] = {0x1p-20f, 1.0f, 60.0f};

// n_rows rows: as many as there are of a sequence of kv_len positions, the rest of others; the
// sequences in any order.
std::vector<Sequence> company(int64_t kv_len, int64_t n_rows, Numbers& numbers) {
  std::vector<Sequence> out = {{kv_len, std::min(kv_len, n_rows)}};
  for (int64_t left = n_rows - out[0].n_rows; left > 0; left -= out.back().n_rows) {
    const int64_t length = kCacheLengths[numbers.below(6)];
    const int64_t most = std::min({length, left, int64_t{numbers.below(40)} + 1});
    out.push_back({length, most});
  }
  std::vector<Sequence> ordered;
  for (const size_t i : permutation(out.size(), numbers)) ordered.push_back(out[i]);
  return ordered;
}

TEST_CASE("attention: every pair of rows, cache length, cache dtype, heads, key size and threads") {
  Numbers numbers(62);
  const CoveringDesign design(
      {std::size(kRowCounts), std::size(kCacheLengths), std::size(kCacheDTypes), std::size(kHeads),
       std::size(kKeyScales), kMostThreads},
      62);
  for (const DesignCase& c : design.cases()) {
    const Heads h = kHeads[c[3]];
    const Step step(company(kCacheLengths[c[1]], kRowCounts[c[0]], numbers), kCacheDTypes[c[2]],
                    h.n_heads, h.n_kv_heads, h.head_dim, kKeyScales[c[4]], numbers);
    ThreadPool& pool = pool_of(c[5]);
    const std::vector<float> expected = step.run(reference_kernel_set(), pool);
    for (const KernelSet* set : cpu_variants()) {
      const std::string difference = first_difference(expected, step.run(*set, pool));
      if (difference.empty()) continue;
      FAIL_CHECK(set->isa << ": "
                          << numbers_text({{"M", kRowCounts[c[0]]},
                                           {"kv_len", kCacheLengths[c[1]]},
                                           {"cache dtype", static_cast<int64_t>(c[2])},
                                           {"heads", static_cast<int64_t>(c[3])},
                                           {"key size", static_cast<int64_t>(c[4])},
                                           {"threads", pool.n_threads()}})
                          << ": " << difference);
    }
  }
  std::printf("attention: %zu cases\n", design.cases().size());
}

// ---- operators of rows ----

constexpr int64_t kWidths[] = {1, 7, 16, 33, 63, 64, 65, 129, 576, 1001};
constexpr int64_t kVocabularies[] = {1, 63, 1021, 4095, 4096, 4097, 8193};

// Calls check(n_rows, width, pool, kind of values, what) for every pair of these.
template <class Check>
void cover_rows(std::span<const int64_t> widths, uint32_t seed, const Check& check) {
  const CoveringDesign design(
      {std::size(kRowCounts), widths.size(), kMostThreads, std::size(kValues)}, seed);
  for (const DesignCase& c : design.cases()) {
    ThreadPool& pool = pool_of(c[2]);
    const int64_t n_rows = kRowCounts[c[0]], width = widths[c[1]];
    check(n_rows, width, pool, kValues[c[3]],
          numbers_text({{"M", n_rows},
                        {"width", width},
                        {"threads", pool.n_threads()},
                        {"values", static_cast<int64_t>(c[3])}}));
  }
  std::printf("%zu cases\n", design.cases().size());
}

TEST_CASE("rms_norm: every pair of rows, width, threads and kind of values") {
  Numbers numbers(63);
  cover_rows(
      kWidths, 63,
      [&](int64_t n_rows, int64_t width, ThreadPool& pool, Values kind, const std::string& what) {
        const auto w = numbers.many(static_cast<size_t>(width));
        const auto x = values(kind, static_cast<size_t>(n_rows * width), numbers);
        check_permuted(x, static_cast<size_t>(n_rows), numbers, what,
                       [&](const KernelSet& set, const auto& rows) {
                         std::vector<float> y(rows.size());
                         set.rms_norm(rows.data(), w.data(), 1e-5f, n_rows, width, y.data(), pool);
                         return y;
                       });
      });
}

TEST_CASE("silu_mul: every pair of rows, width, threads and kind of values") {
  Numbers numbers(64);
  cover_rows(
      kWidths, 64,
      [&](int64_t n_rows, int64_t width, ThreadPool& pool, Values kind, const std::string& what) {
        const auto gate_up = values(kind, static_cast<size_t>(2 * n_rows * width), numbers);
        check_permuted(gate_up, static_cast<size_t>(n_rows), numbers, what,
                       [&](const KernelSet& set, const auto& rows) {
                         std::vector<float> y(static_cast<size_t>(n_rows * width));
                         set.silu_mul(rows.data(), n_rows, width, y.data(), pool);
                         return y;
                       });
      });
}

TEST_CASE("residual: every pair of rows, width, threads and kind of values") {
  Numbers numbers(65);
  cover_rows(
      kWidths, 65,
      [&](int64_t n_rows, int64_t width, ThreadPool& pool, Values kind, const std::string& what) {
        const auto x_and_f = values(kind, static_cast<size_t>(2 * n_rows * width), numbers);
        // Rows of x beside their row of f, so that both move together.
        check_permuted(x_and_f, static_cast<size_t>(n_rows), numbers, what,
                       [&](const KernelSet& set, const auto& rows) {
                         std::vector<float> x, f;
                         for (size_t r = 0; r < static_cast<size_t>(n_rows); ++r) {
                           const auto at = rows.begin() + static_cast<long>(r) * 2 * width;
                           x.insert(x.end(), at, at + width);
                           f.insert(f.end(), at + width, at + 2 * width);
                         }
                         set.residual(x.data(), f.data(), n_rows * width, pool);
                         return x;
                       });
      });
}

TEST_CASE("log_sum_exp: every pair of rows, vocabulary, threads and kind of values") {
  Numbers numbers(66);
  cover_rows(
      kVocabularies, 66,
      [&](int64_t n_rows, int64_t vocab, ThreadPool& pool, Values kind, const std::string& what) {
        const auto z = values(kind, static_cast<size_t>(n_rows * vocab), numbers);
        check_permuted(z, static_cast<size_t>(n_rows), numbers, what,
                       [&](const KernelSet& set, const auto& rows) {
                         std::vector<float> max(static_cast<size_t>(n_rows)), sum(max.size()), both;
                         set.log_sum_exp(rows.data(), n_rows, vocab, max.data(), sum.data(), pool);
                         for (size_t r = 0; r < max.size(); ++r)
                           both.insert(both.end(), {max[r], sum[r]});
                         return both;
                       });
      });
}

// Rows at any position: each of a sequence of its own, which has one block per 16 positions.
struct ScatteredRows {
  std::vector<int32_t> positions, sequences;
  std::vector<std::vector<int32_t>> tables;
  std::vector<const int32_t*> table_pointers;
  int32_t n_blocks = 0;

  ScatteredRows(int64_t n_rows, Numbers& numbers) {
    for (int32_t r = 0; r < n_rows; ++r) {
      positions.push_back(static_cast<int32_t>(numbers.below(80)));
      sequences.push_back(r);
      tables.emplace_back();
      for (int32_t b = 0; b <= positions.back() / kKvBlockTokens; ++b)
        tables.back().push_back(n_blocks++);
    }
    for (const auto& table : tables) table_pointers.push_back(table.data());
  }
  BatchView view() const {
    return {static_cast<int64_t>(positions.size()), positions.data(), sequences.data(),
            static_cast<int64_t>(tables.size()), table_pointers.data()};
  }
};

TEST_CASE("rope and kv_write: every pair of rows, head size, threads and kind of values") {
  constexpr int64_t kHeadDims[] = {2, 20, 32, 34, 64, 80, 128};
  constexpr int64_t kHeadsInRow = 3, kPositions = 80;
  Numbers numbers(67);
  cover_rows(
      kHeadDims, 67,
      [&](int64_t n_rows, int64_t head_dim, ThreadPool& pool, Values kind,
          const std::string& what) {
        const ScatteredRows rows(n_rows, numbers);
        const int64_t width = kHeadsInRow * head_dim, stride = width + 5;
        const auto cos = numbers.many(static_cast<size_t>(kPositions * head_dim / 2));
        const auto sin = numbers.many(cos.size());
        const auto x = values(kind, static_cast<size_t>(n_rows * stride), numbers);
        const auto dtype = kCacheDTypes[numbers.below(3)];
        const size_t n_bytes = static_cast<size_t>(rows.n_blocks * width * kKvBlockTokens * 4);
        // The rotated rows, and the cache that they are written to.
        const auto run = [&](const KernelSet& set, std::vector<std::byte>& cache) {
          std::vector<float> y = x;
          set.rope(y.data(), stride, kHeadsInRow, {cos.data(), sin.data(), head_dim}, rows.view(),
                   pool);
          cache.assign(2 * n_bytes, std::byte{0xA5});
          set.kv_write(y.data(), x.data(), stride, rows.view(),
                       {dtype, kHeadsInRow, head_dim, cache.data(), cache.data() + n_bytes}, pool);
          return y;
        };
        std::vector<std::byte> expected_cache, cache;
        const std::vector<float> expected = run(reference_kernel_set(), expected_cache);
        for (const KernelSet* set : cpu_variants()) {
          const std::string difference = first_difference(expected, run(*set, cache));
          if (!difference.empty()) FAIL_CHECK(set->isa << ": rope, " << what << ": " << difference);
          const std::string bytes =
              first_difference(reinterpret_cast<const uint8_t*>(expected_cache.data()),
                               reinterpret_cast<const uint8_t*>(cache.data()), cache.size());
          if (!bytes.empty()) FAIL_CHECK(set->isa << ": kv_write, " << what << ": " << bytes);
        }
      });
}

// ---- the test itself ----

TEST_CASE("one ulp in row 16 of steps that have one is found") {
  Numbers numbers(68);
  KernelSet faulty = reference_kernel_set();
  faulty.rms_norm = [](const float* x, const float* w, float eps, int64_t n_rows, int64_t dim,
                       float* y, ThreadPool& pool) {
    reference_kernel_set().rms_norm(x, w, eps, n_rows, dim, y, pool);
    if (n_rows > 16) y[16 * dim] = std::nextafterf(y[16 * dim], HUGE_VALF);
  };
  const KernelSet* sets[] = {&faulty};
  const std::vector<float> w(33, 1.0f);
  for (const int64_t n_rows : kRowCounts) {
    const auto x = numbers.many(static_cast<size_t>(n_rows * 33));
    const auto run = [&](const KernelSet& set, const auto& rows) {
      std::vector<float> y(rows.size());
      set.rms_norm(rows.data(), w.data(), 1e-5f, n_rows, 33, y.data(), pool_of(0));
      return y;
    };
    const std::string difference =
        permuted_difference(sets, x, static_cast<size_t>(n_rows), numbers, run);
    CHECK(difference.starts_with(n_rows > 16 ? "scalar: element 528 of" : ""));
    CHECK(difference.empty() == (n_rows <= 16));
  }
}

TEST_CASE("the covering design has every pair of levels") {
  const std::vector<size_t> n_levels = {5, 3, 7, 2};
  const CoveringDesign design(n_levels, 1);
  for (size_t f = 0; f < n_levels.size(); ++f) {
    for (size_t g = f + 1; g < n_levels.size(); ++g) {
      std::set<std::pair<size_t, size_t>> seen;
      for (const DesignCase& c : design.cases()) seen.emplace(c[f], c[g]);
      CHECK(seen.size() == n_levels[f] * n_levels[g]);
    }
  }
}

}  // namespace
}  // namespace isobit

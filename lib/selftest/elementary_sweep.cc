#include "selftest/elementary_sweep.h"

#include <bit>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "selftest/elementary_sample.h"

namespace isobit {
namespace {

constexpr int64_t kChunkInputs = 8192;  // three arrays of it stay in a core's cache

struct SliceResult {
  Sha256Digest digest = {};
  ErrorSummary errors;
  std::vector<std::optional<VariantDifference>> differences;
};

void note_difference(std::optional<VariantDifference>& difference, uint32_t first_input,
                     const float* expected, const float* found) {
  if (std::memcmp(expected, found, kChunkInputs * sizeof(float)) == 0) return;
  for (int64_t i = 0; i < kChunkInputs; ++i) {
    const auto e = std::bit_cast<uint32_t>(expected[i]), f = std::bit_cast<uint32_t>(found[i]);
    if (e == f) continue;
    if (!difference)
      difference = {.n_inputs = 0,
                    .first_input = first_input + static_cast<uint32_t>(i),
                    .expected = e,
                    .found = f};
    ++difference->n_inputs;
  }
}

SliceResult sweep_slice(Elementary function, int slice,
                        const std::vector<const KernelSet*>& variants, ErrorMeter& meter) {
  SliceResult result;
  result.differences.resize(variants.size());
  std::vector<float> x(kChunkInputs), y(kChunkInputs), other(kChunkInputs);
  Sha256 digest;
  for (int64_t at = 0; at < kSliceInputs; at += kChunkInputs) {
    const uint32_t first = static_cast<uint32_t>(slice) << 24 | static_cast<uint32_t>(at);
    for (int64_t i = 0; i < kChunkInputs; ++i)
      x[static_cast<size_t>(i)] = std::bit_cast<float>(first + static_cast<uint32_t>(i));
    variants[0]->elementary(function, x.data(), kChunkInputs, y.data());
    digest.update(y.data(), y.size() * sizeof(float));
    result.errors.add(meter.measure(first, y.data(), kChunkInputs));
    for (size_t v = 1; v < variants.size(); ++v) {
      variants[v]->elementary(function, x.data(), kChunkInputs, other.data());
      note_difference(result.differences[v], first, y.data(), other.data());
    }
  }
  result.digest = digest.finish();
  return result;
}

void add(FunctionSweep& sweep, int slice, const SliceResult& result) {
  sweep.slices[slice] = result.digest;
  sweep.errors.add(result.errors);
  for (size_t v = 0; v < sweep.differences.size(); ++v) {
    if (!result.differences[v]) continue;
    if (!sweep.differences[v]) {
      sweep.differences[v] = result.differences[v];
    } else {
      sweep.differences[v]->n_inputs += result.differences[v]->n_inputs;
    }
  }
}

}  // namespace

std::optional<Sha256Digest> FunctionSweep::total() const {
  if (slices.size() != kSlices) return std::nullopt;
  FunctionDigests all;
  for (const auto& [slice, digest] : slices) all.slices[static_cast<size_t>(slice)] = digest;
  return total_digest(all);
}

std::vector<FunctionSweep> sweep_elementary(const SweepPlan& plan, ThreadPool& pool,
                                            const std::function<void(int, int)>& finished) {
  ISOBIT_REQUIRE(!plan.variants.empty());
  const size_t n_slices = plan.slices.size(), n_items = plan.functions.size() * n_slices;
  std::vector<std::unique_ptr<ErrorMeter>> meters;
  for (const Elementary function : plan.functions)
    meters.push_back(std::make_unique<ErrorMeter>(function));
  std::vector<SliceResult> results(n_items);
  std::mutex mutex;
  int done = 0;
  pool.run(n_items, [&](size_t item, int) {
    const size_t f = item / n_slices;
    results[item] =
        sweep_slice(plan.functions[f], plan.slices[item % n_slices], plan.variants, *meters[f]);
    const std::lock_guard lock(mutex);
    finished(++done, static_cast<int>(n_items));
  });

  std::vector<FunctionSweep> sweeps;
  for (size_t f = 0; f < plan.functions.size(); ++f) {
    FunctionSweep& sweep = sweeps.emplace_back();
    sweep.function = plan.functions[f];
    sweep.sample = sample_digest(*plan.variants[0], sweep.function);
    sweep.differences.resize(plan.variants.size());
    for (size_t s = 0; s < n_slices; ++s) add(sweep, plan.slices[s], results[f * n_slices + s]);
  }
  return sweeps;
}

PublishedComparison compare_with_published(const FunctionSweep& sweep,
                                           const FunctionDigests& published) {
  PublishedComparison comparison;
  comparison.same_sample = sweep.sample == published.sample;
  for (const auto& [slice, digest] : sweep.slices) {
    if (digest != published.slices[static_cast<size_t>(slice)])
      comparison.differing_slices.push_back(slice);
  }
  return comparison;
}

}  // namespace isobit

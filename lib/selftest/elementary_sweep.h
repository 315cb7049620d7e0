// Sweeps the elementary functions over slices of their inputs: digests and errors of the first
// variant, and whether every other variant gives the same bits.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/ops.h"
#include "selftest/elementary_error.h"
#include "selftest/published_digests.h"

namespace isobit {

struct SweepPlan {
  std::vector<Elementary> functions;
  std::vector<int> slices;                 // 0..255, ascending, distinct
  std::vector<const KernelSet*> variants;  // at least one; each with `elementary`
};

// Bits of a variant that are not the first variant's.
struct VariantDifference {
  uint64_t n_inputs = 0;
  uint32_t first_input = 0;  // bits
  uint32_t expected = 0;     // the first variant's result there
  uint32_t found = 0;
};

struct FunctionSweep {
  Elementary function = Elementary::kExp;
  std::map<int, Sha256Digest> slices;
  Sha256Digest sample = {};  // of the first variant
  ErrorSummary errors;
  std::vector<std::optional<VariantDifference>> differences;  // one per variant; nothing: same bits

  uint64_t n_inputs() const { return slices.size() * static_cast<uint64_t>(kSliceInputs); }
  std::optional<Sha256Digest> total() const;  // nothing unless every slice was swept
};

// One per function of the plan, in its order. `finished(done, of)` is called after each slice of
// each function, by one thread at a time.
std::vector<FunctionSweep> sweep_elementary(const SweepPlan& plan, ThreadPool& pool,
                                            const std::function<void(int, int)>& finished);

// Which of the swept digests are not the published ones.
struct PublishedComparison {
  std::vector<int> differing_slices;
  bool same_sample = true;

  bool same() const { return differing_slices.empty() && same_sample; }
};
PublishedComparison compare_with_published(const FunctionSweep& sweep,
                                           const FunctionDigests& published);

}  // namespace isobit

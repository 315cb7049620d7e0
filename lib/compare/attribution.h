// What kind of thing made answers differ, as far as the cells can tell.
//
// Each axis stands for a kind. A cell that differs from its reference cell in axes of one kind
// decides: whatever diverges there is of that kind. A cell that differs in several is decided only
// by the cells that vary each of those axes alone: if all of them were compared and those that
// diverge are of one kind, it is that kind. Otherwise the answer is the list of kinds that remain.
//
// Two kinds come before the axes. A flip over one and the same row is the sampler's. And a prompt
// whose reference repeats already differ is run-to-run: what the cell adds to that cannot be seen.
// Where other prompts' repeats differ, run-to-run stays among the candidates. Where the reference
// was not repeated at all, it is not ruled out either; reports say so once instead of on every
// line.
//
// Between two runs the axes that changed count, and the fingerprint: its scheduler items are
// schedule, everything else is environment. Where nothing changed, it is run-to-run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

struct RunComparison;

enum class DivergenceKind {
  kSampling,          // the sampler chose otherwise over the same row
  kRunToRun,          // the same cell, asked again
  kBatchPosition,     // load.position
  kBatchComposition,  // load.neighbours, load.batch_shape
  kBatchSize,         // load.concurrency
  kSchedule,     // load.arrival, engine.chunked_prefill, .prefix_cache, .speculation, .preemption
  kParallelism,  // hw.tensor_parallel, engine.threads
  kRestart,      // state.restart
  kEnvironment,  // engine.isa, .kernel_set, .kv_dtype, the fingerprint, and axes not listed here
};
const char* name(DivergenceKind kind);

DivergenceKind kind_of_axis(std::string_view axis);

struct Attribution {
  std::vector<DivergenceKind> kinds;  // one: decided. Several: one of these, not decided
  std::string reason = {};            // "only load.concurrency differs"
  bool decided() const { return kinds.size() == 1; }
};

// "batch_size", or "not decided: batch_size or schedule".
std::string kinds_text(const std::vector<DivergenceKind>& kinds);

// Diverging pairs by their kinds. A pair counts in both columns where its tokens differ.
struct KindCount {
  std::vector<DivergenceKind> kinds;
  int64_t numeric_divergences = 0;
  int64_t token_divergences = 0;
};

// Fills in the attribution of every cell, the kinds of every diverging pair, and their counts.
// REQUIRES: pairs are compared, and noisy_prompts is set.
void attribute(RunComparison& comparison);

}  // namespace isobit

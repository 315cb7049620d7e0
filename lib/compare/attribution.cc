#include "compare/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "compare/run_comparison.h"
#include "compare/sorted.h"

namespace isobit {
namespace {

using Kinds = std::vector<DivergenceKind>;

constexpr std::array<std::pair<std::string_view, DivergenceKind>, 13> kAxisKinds = {{
    {"load.position", DivergenceKind::kBatchPosition},
    {"load.neighbours", DivergenceKind::kBatchComposition},
    {"load.batch_shape", DivergenceKind::kBatchComposition},
    {"load.concurrency", DivergenceKind::kBatchSize},
    {"load.arrival", DivergenceKind::kSchedule},
    {"engine.chunked_prefill", DivergenceKind::kSchedule},
    {"engine.prefix_cache", DivergenceKind::kSchedule},
    {"engine.speculation", DivergenceKind::kSchedule},
    {"engine.preemption", DivergenceKind::kSchedule},
    {"hw.tensor_parallel", DivergenceKind::kParallelism},
    {"engine.threads", DivergenceKind::kParallelism},
    {"state.restart", DivergenceKind::kRestart},
    {"sampling.rng", DivergenceKind::kSampling},
}};

bool diverges(const PairComparison& pair) {
  return pair.state == PairState::kCompared && (pair.divergence.token || pair.divergence.numeric);
}

bool diverges(const CellComparison& cell) {
  return cell.counts.token_divergences + cell.counts.numeric_divergences > 0;
}

std::string joined(const std::vector<std::string>& words, const char* last_separator) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last_separator : ", ";
    text += words[i];
  }
  return text;
}

std::vector<std::string> axes_of(const std::vector<ValueChange>& changes) {
  std::vector<std::string> axes;
  for (const ValueChange& change : changes) axes.push_back(change.axis);
  return axes;
}

Kinds kinds_of(const std::vector<ValueChange>& changes) {
  Kinds kinds;
  for (const ValueChange& change : changes) kinds.push_back(kind_of_axis(change.axis));
  return sorted_once(std::move(kinds));
}

// What the cells that vary one axis each say about a cell that varies several.
struct SingleAxisEvidence {
  std::vector<std::string> diverging, clean, unknown;  // axes
  Kinds diverging_kinds;
};

bool is_single(const CellComparison& cell, const ValueChange& change) {
  return cell.changes.size() == 1 && cell.changes[0].axis == change.axis &&
         cell.changes[0].to == change.to;
}

SingleAxisEvidence evidence_for(const RunComparison& comparison, const CellComparison& cell) {
  SingleAxisEvidence evidence;
  for (const ValueChange& change : cell.changes) {
    const auto single = std::find_if(comparison.cells.begin(), comparison.cells.end(),
                                     [&](const CellComparison& other) {
                                       return other.group == cell.group && is_single(other, change);
                                     });
    if (single != comparison.cells.end() && diverges(*single)) {
      evidence.diverging.push_back(change.axis);
      evidence.diverging_kinds.push_back(kind_of_axis(change.axis));
    } else if (single != comparison.cells.end() && single->exercised && single->complete &&
               single->counts.n_pairs > 0) {
      evidence.clean.push_back(change.axis);
    } else {
      evidence.unknown.push_back(change.axis);
    }
  }
  evidence.diverging_kinds = sorted_once(std::move(evidence.diverging_kinds));
  return evidence;
}

Attribution from_single_axes(const CellComparison& cell, const SingleAxisEvidence& evidence) {
  if (!evidence.unknown.empty()) {
    return {.kinds = kinds_of(cell.changes),
            .reason = "no usable cell varies " + joined(evidence.unknown, " or ") + " alone"};
  }
  const std::string alone = joined(evidence.diverging, " and ");
  if (evidence.diverging_kinds.size() == 1) {
    return {.kinds = evidence.diverging_kinds,
            .reason = evidence.clean.empty() ? alone + " diverge alone"
                                             : alone + " diverges alone, " +
                                                   joined(evidence.clean, " and ") + " does not"};
  }
  if (evidence.diverging.empty()) {
    return {.kinds = kinds_of(cell.changes),
            .reason = "only together: " + joined(evidence.clean, " with ")};
  }
  return {.kinds = evidence.diverging_kinds, .reason = alone + " each diverge alone"};
}

Attribution within_run(const RunComparison& comparison, const CellComparison& cell) {
  if (cell.is_reference || cell.changes.empty())
    return {.kinds = {DivergenceKind::kRunToRun}, .reason = "the same cell, asked again"};
  Kinds kinds = kinds_of(cell.changes);
  if (kinds.size() == 1)
    return {.kinds = std::move(kinds),
            .reason = "only " + joined(axes_of(cell.changes), " and ") + " differs"};
  return from_single_axes(cell, evidence_for(comparison, cell));
}

std::string changed_items(const std::vector<FingerprintChange>& changes) {
  constexpr size_t kShown = 3;
  std::vector<std::string> items;
  for (size_t i = 0; i < std::min(changes.size(), kShown); ++i)
    items.push_back(std::string(name(changes[i].item_class)) + "." + changes[i].name);
  if (changes.size() > kShown)
    items.push_back(fmt::format("{} more fingerprint items", changes.size() - kShown));
  return joined(items, " and ");
}

Attribution between_runs(const RunComparison& comparison, const CellComparison& cell) {
  Kinds kinds = kinds_of(cell.changes);
  for (const FingerprintChange& change : comparison.fingerprint_changes) {
    kinds.push_back(change.item_class == FingerprintClass::kScheduler
                        ? DivergenceKind::kSchedule
                        : DivergenceKind::kEnvironment);
  }
  kinds = sorted_once(std::move(kinds));
  if (kinds.empty())
    return {.kinds = {DivergenceKind::kRunToRun},
            .reason = "neither the cell nor the fingerprint changed"};
  std::vector<std::string> changed = axes_of(cell.changes);
  if (!comparison.fingerprint_changes.empty())
    changed.push_back(changed_items(comparison.fingerprint_changes));
  return {.kinds = std::move(kinds), .reason = joined(changed, " and ") + " changed"};
}

Kinds kinds_of(const RunComparison& comparison, const CellComparison& cell,
               const PairComparison& pair) {
  if (pair.flip == FlipKind::kSampling) return {DivergenceKind::kSampling};
  const std::vector<int32_t>& noisy = comparison.noisy_prompts;
  if (std::binary_search(noisy.begin(), noisy.end(), pair.prompt_index))
    return {DivergenceKind::kRunToRun};
  Kinds kinds = cell.attribution.kinds;
  if (!noisy.empty()) kinds.push_back(DivergenceKind::kRunToRun);
  return sorted_once(std::move(kinds));
}

}  // namespace

const char* name(DivergenceKind kind) {
  switch (kind) {
    case DivergenceKind::kSampling:
      return "sampling";
    case DivergenceKind::kRunToRun:
      return "run_to_run";
    case DivergenceKind::kBatchPosition:
      return "batch_position";
    case DivergenceKind::kBatchComposition:
      return "batch_composition";
    case DivergenceKind::kBatchSize:
      return "batch_size";
    case DivergenceKind::kSchedule:
      return "schedule";
    case DivergenceKind::kParallelism:
      return "parallelism";
    case DivergenceKind::kRestart:
      return "restart";
    case DivergenceKind::kEnvironment:
      return "environment";
  }
  return "unknown";
}

DivergenceKind kind_of_axis(std::string_view axis) {
  const auto at = std::ranges::find(kAxisKinds, axis, [](const auto& row) { return row.first; });
  return at == kAxisKinds.end() ? DivergenceKind::kEnvironment : at->second;
}

std::string kinds_text(const std::vector<DivergenceKind>& kinds) {
  std::vector<std::string> names;
  for (const DivergenceKind kind : kinds) names.emplace_back(name(kind));
  return (kinds.size() > 1 ? "not decided: " : "") + joined(names, " or ");
}

void attribute(RunComparison& comparison) {
  std::map<Kinds, KindCount> counts;
  for (CellComparison& cell : comparison.cells) {
    cell.attribution = comparison.kind == ComparisonKind::kWithinRun
                           ? within_run(comparison, cell)
                           : between_runs(comparison, cell);
    for (PairComparison& pair : cell.pairs) {
      if (!diverges(pair)) continue;
      pair.kinds = kinds_of(comparison, cell, pair);
      KindCount& count = counts[pair.kinds];
      count.kinds = pair.kinds;
      count.numeric_divergences += pair.divergence.numeric ? 1 : 0;
      count.token_divergences += pair.divergence.token ? 1 : 0;
    }
  }
  for (auto& [kinds, count] : counts) comparison.kinds.push_back(std::move(count));
}

}  // namespace isobit

// compare_within_run: every cell against its group's reference cell, and what lies between groups.
#include <algorithm>
#include <set>

#include "compare/pairing.h"
#include "compare/recorded_samples.h"
#include "compare/run_comparison.h"
#include "compare/run_facts.h"
#include "compare/summary.h"

namespace isobit {
namespace {

using Choice = std::pair<int32_t, int32_t>;  // (prompt, sample index)

// What a group's cells have recorded, taken together, says what each of them should have.
struct GroupKeys {
  std::set<Choice> choices;
  std::set<int32_t> reference_repeats = {0};
  std::set<int32_t> cell_repeats = {0};  // of the cells that are not the reference

  std::set<int32_t> all_repeats() const {
    std::set<int32_t> all = reference_repeats;
    all.insert(cell_repeats.begin(), cell_repeats.end());
    return all;
  }
};

std::map<int32_t, GroupKeys> keys_by_group(const RunRecord& run, const RecordedSamples& samples) {
  std::map<int32_t, GroupKeys> groups;
  for (const CellRecord& cell : run.cells) {
    GroupKeys& group = groups[cell.reference_index];
    for (const auto& [key, trace] : samples.of_cell(cell.index)) {
      const int32_t n_choices = run.requests[static_cast<size_t>(key.prompt_index)].sampling.n;
      group.choices.insert({key.prompt_index, key.sample_index});
      for (int32_t s = 0; s < n_choices; ++s) group.choices.insert({key.prompt_index, s});
      (cell.is_reference() ? group.reference_repeats : group.cell_repeats).insert(key.repeat);
    }
  }
  return groups;
}

std::set<SampleKey> product(const std::set<Choice>& choices, const std::set<int32_t>& repeats) {
  std::set<SampleKey> keys;
  for (const auto& [prompt, sample] : choices) {
    for (const int32_t repeat : repeats)
      keys.insert({.prompt_index = prompt, .sample_index = sample, .repeat = repeat});
  }
  return keys;
}

// Repeats after the first, compared with the first; and the first itself where it is missing.
std::set<SampleKey> reference_keys(const GroupKeys& group, const RecordedSamples& samples,
                                   int32_t cell_index) {
  std::set<SampleKey> keys = product(group.choices, group.all_repeats());
  std::erase_if(keys, [&](const SampleKey& key) {
    return key.repeat == 0 && samples.find(cell_index, key) != nullptr;
  });
  return keys;
}

std::map<int32_t, int32_t> every_prompt_to_itself(const RunRecord& run) {
  std::map<int32_t, int32_t> map;
  for (size_t i = 0; i < run.requests.size(); ++i)
    map.emplace(static_cast<int32_t>(i), static_cast<int32_t>(i));
  return map;
}

class WithinRun {
 public:
  WithinRun(const RunRecord& run, const CompareOptions& options)
      : run_(run),
        samples_(run),
        groups_(keys_by_group(run, samples_)),
        prompt_map_(every_prompt_to_itself(run)),
        thresholds_(options.flips) {}

  // Noise comes first: it decides what counts as a tie.
  void compare_references(RunComparison& comparison) {
    for (const CellRecord* cell : cells_in_order(run_)) {
      if (!cell->is_reference()) continue;
      CellComparison line = compare_reference(*cell);
      comparison.noise += line.counts;
      widen(comparison.noise_drift, line.max_drift);
      comparison.cells.push_back(std::move(line));
    }
    thresholds_ = with_noise(thresholds_, comparison.noise_drift);
  }

  void compare_cells_with_references(RunComparison& comparison) {
    for (const CellRecord* cell : cells_in_order(run_)) {
      if (!cell->is_reference()) comparison.cells.push_back(compare_cell(*cell));
    }
  }

  void compare_groups(RunComparison& comparison) {
    std::vector<const CellRecord*> references;
    for (const CellRecord* cell : cells_in_order(run_)) {
      if (cell->is_reference()) references.push_back(cell);
    }
    for (size_t i = 1; i < references.size(); ++i) {
      comparison.group_changes.push_back(compare_group(*references[0], *references[i]));
    }
  }

 private:
  CellSide side(const CellRecord& cell) const {
    return {.run = run_, .samples = samples_, .cell = cell};
  }

  CellComparison compare_reference(const CellRecord& cell) const {
    CellComparison line = describe_cell(side(cell), side(cell));
    compare_cells(line, side(cell), side(cell), prompt_map_,
                  reference_keys(groups_.at(cell.index), samples_, cell.index),
                  RepeatPairing::kFirstRepeat, thresholds_);
    summarise_pairs(line);
    return line;
  }

  CellComparison compare_cell(const CellRecord& cell) const {
    const CellRecord& reference = cell_at(run_, cell.reference_index);
    const GroupKeys& group = groups_.at(cell.reference_index);
    CellComparison line = describe_cell(side(reference), side(cell));
    compare_cells(line, side(reference), side(cell), prompt_map_,
                  product(group.choices, group.cell_repeats), RepeatPairing::kSameRepeat,
                  thresholds_);
    summarise_pairs(line);
    return line;
  }

  GroupChange compare_group(const CellRecord& from, const CellRecord& to) const {
    GroupChange change{.from_cell = from.name,
                       .to_cell = to.name,
                       .changed = value_changes(from.values, to.values)};
    std::set<Choice> choices;
    for (const CellRecord* cell : {&from, &to}) {
      const GroupKeys& group = groups_.at(cell->index);
      choices.insert(group.choices.begin(), group.choices.end());
    }
    CellComparison line;
    compare_cells(line, side(from), side(to), prompt_map_, product(choices, {0}),
                  RepeatPairing::kSameRepeat, thresholds_);
    for (const PairComparison& pair : line.pairs) {
      ++change.n_pairs;
      const Sameness tokens = pair.sameness(Level::kRequestReproducible);
      change.n_same_tokens += tokens == Sameness::kSame ? 1 : 0;
      change.n_other_tokens += tokens == Sameness::kDifferent ? 1 : 0;
      change.n_not_compared += tokens == Sameness::kMissing ? 1 : 0;
      change.n_same_bits += pair.sameness(Level::kBitwise) == Sameness::kSame ? 1 : 0;
    }
    return change;
  }

  const RunRecord& run_;
  RecordedSamples samples_;
  std::map<int32_t, GroupKeys> groups_;
  std::map<int32_t, int32_t> prompt_map_;
  FlipThresholds thresholds_;
};

}  // namespace

RunComparison compare_within_run(const RunRecord& run, const CompareOptions& options) {
  RunComparison comparison;
  comparison.kind = ComparisonKind::kWithinRun;
  comparison.base = comparison.candidate = describe_run(run);
  WithinRun within(run, options);
  within.compare_references(comparison);
  within.compare_cells_with_references(comparison);
  within.compare_groups(comparison);
  sort_by_cell_order(comparison, run);
  summarise_cells(comparison);
  comparison.unsampled_requests = unsampled_requests(run);
  return comparison;
}

}  // namespace isobit

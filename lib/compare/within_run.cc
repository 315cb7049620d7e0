// compare_within_run: every cell against its group's reference cell, and what lies between groups.
#include <map>
#include <vector>

#include "compare/answers.h"
#include "compare/conclusions.h"
#include "compare/pairing.h"
#include "compare/recorded_samples.h"
#include "compare/reference_noise.h"
#include "compare/run_comparison.h"
#include "compare/run_facts.h"
#include "compare/sorted.h"
#include "compare/summary.h"

namespace isobit {
namespace {

class WithinRun {
 public:
  WithinRun(const RunRecord& run, const CompareOptions& options)
      : run_(run),
        samples_(run),
        groups_(keys_by_group(run, samples_)),
        prompt_map_(every_prompt_to_itself(run)),
        pairing_{.thresholds = options.flips,
                 .detail = options.detail,
                 .rows = options.detail == Detail::kFull ? &rows_ : nullptr} {}

  // Noise comes first: it decides what counts as a tie.
  void compare_references(RunComparison& comparison) {
    ReferenceNoise noise;
    for (const CellRecord* cell : cells_in_order(run_)) {
      if (!cell->is_reference()) continue;
      CellComparison line =
          compare_repeats(side(*cell), groups_.at(cell->index), prompt_map_, pairing_);
      add_noise(noise, line);
      comparison.cells.push_back(std::move(line));
    }
    note_noise(comparison, noise);
    pairing_.thresholds = with_noise(pairing_.thresholds, comparison.noise_drift);
  }

  void compare_cells_with_references(RunComparison& comparison) {
    for (const CellRecord* cell : cells_in_order(run_)) {
      if (!cell->is_reference()) comparison.cells.push_back(compare_cell(*cell));
    }
  }

  void describe_groups(RunComparison& comparison) {
    for (const CellRecord* reference : cells_in_order(run_)) {
      if (!reference->is_reference()) continue;
      AnswersByChoice answers;
      SameChoices same;
      size_t n_cells = 0;
      for (const CellRecord& cell : run_.cells) {
        if (cell.reference_index != reference->index) continue;
        ++n_cells;
        answers.add(side(cell), prompt_map_);
      }
      if (n_cells < 2) continue;
      for (const CellComparison& line : comparison.cells) {
        if (line.group == reference->index) same.add(line);
      }
      std::vector<ChoiceAnswers> choices = answers.choices();
      same.mark(choices, n_cells);  // one of each cell
      comparison.group_spreads.push_back(
          {.reference_name = reference->name, .spread = answer_spread(choices)});
    }
  }

  void conclude_all(RunComparison& comparison) const {
    conclude(comparison, {.run = run_, .samples = samples_}, pairing_);
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

  CellComparison compare_cell(const CellRecord& cell) const {
    const CellRecord& reference = cell_at(run_, cell.reference_index);
    const GroupKeys& group = groups_.at(cell.reference_index);
    CellComparison line = describe_cell(side(reference), side(cell));
    compare_cells(line, side(reference), side(cell), prompt_map_,
                  product(group.choices, group.cell_repeats), pairing_);
    summarise_pairs(line);
    return line;
  }

  GroupChange compare_group(const CellRecord& from, const CellRecord& to) const {
    GroupChange change{.from_cell = from.name,
                       .to_cell = to.name,
                       .changed = value_changes(from.values, to.values)};
    std::vector<Choice> choices = groups_.at(from.index).choices;
    const std::vector<Choice>& others = groups_.at(to.index).choices;
    choices.insert(choices.end(), others.begin(), others.end());
    choices = sorted_once(std::move(choices));
    CellComparison line;
    compare_cells(line, side(from), side(to), prompt_map_, product(choices, {0}),
                  {.thresholds = pairing_.thresholds});
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
  std::vector<RowObservation> rows_;
  PairingOptions pairing_;
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
  within.describe_groups(comparison);
  sort_by_cell_order(comparison, run);
  summarise_cells(comparison);
  within.conclude_all(comparison);
  comparison.request_tags = request_tags(run);
  comparison.unsampled_requests = unsampled_requests(run);
  return comparison;
}

}  // namespace isobit

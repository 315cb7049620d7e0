#include "compare/reference_noise.h"

#include "compare/sorted.h"
#include "compare/summary.h"

namespace isobit {
namespace {

std::vector<SampleKey> repeat_keys(const GroupKeys& group, const CellSide& reference) {
  std::vector<SampleKey> keys = product(group.choices, group.all_repeats());
  std::erase_if(keys, [&](const SampleKey& key) {
    return key.repeat == 0 && reference.samples.find(reference.cell.index, key) != nullptr;
  });
  return keys;
}

}  // namespace

CellComparison compare_repeats(const CellSide& reference, const GroupKeys& group,
                               const std::map<int32_t, int32_t>& prompt_map,
                               const PairingOptions& options) {
  CellComparison line = describe_cell(reference, reference);
  PairingOptions repeats = options;
  repeats.repeats = RepeatPairing::kFirstRepeat;
  compare_cells(line, reference, reference, prompt_map, repeat_keys(group, reference), repeats);
  summarise_pairs(line);
  return line;
}

ReferenceNoise reference_noise(const RunRecord& run, const RecordedSamples& samples,
                               const CompareOptions& options) {
  const std::map<int32_t, GroupKeys> groups = keys_by_group(run, samples);
  const std::map<int32_t, int32_t> prompt_map = every_prompt_to_itself(run);
  ReferenceNoise noise;
  for (const CellRecord* cell : cells_in_order(run)) {
    if (!cell->is_reference()) continue;
    const CellSide side{.run = run, .samples = samples, .cell = *cell};
    add_noise(noise, compare_repeats(side, groups.at(cell->index), prompt_map,
                                     {.thresholds = options.flips}));
  }
  return noise;
}

void add_noise(ReferenceNoise& noise, const CellComparison& line) {
  noise.counts += line.counts;
  widen(noise.drift, line.max_drift);
  for (const PairComparison& pair : line.pairs) {
    if (pair.divergence.token || pair.divergence.numeric)
      noise.noisy_prompts.push_back(pair.prompt_index);
    // The first repeat itself, where it is missing, is no repeat.
    if (pair.repeat > 0)
      noise.match.add({0, pair.prompt_index}, pair.sameness(Level::kRequestReproducible));
  }
  noise.noisy_prompts = sorted_once(std::move(noise.noisy_prompts));
}

void note_noise(RunComparison& comparison, const ReferenceNoise& noise) {
  comparison.noise = noise.counts;
  comparison.noise_drift = noise.drift;
  comparison.noisy_prompts = noise.noisy_prompts;
  comparison.noise_match = MatchCounter(noise.match).result();
}

std::map<int32_t, int32_t> every_prompt_to_itself(const RunRecord& run) {
  std::map<int32_t, int32_t> map;
  for (size_t i = 0; i < run.requests.size(); ++i)
    map.emplace_hint(map.end(), static_cast<int32_t>(i), static_cast<int32_t>(i));
  return map;
}

}  // namespace isobit

#include "compare/pairing.h"

#include <algorithm>
#include <utility>

namespace isobit {
namespace {

PairComparison compare_pair(const CellSide& reference, const CellSide& candidate,
                            const SampleKey& key, const SampleKey& reference_key,
                            const SampleKey& candidate_key, const FlipThresholds& thresholds) {
  const Request& request = reference.run.requests[static_cast<size_t>(key.prompt_index)];
  PairComparison pair;
  pair.prompt_index = key.prompt_index;
  pair.request_id = request.id;
  pair.sample_index = key.sample_index;
  pair.repeat = key.repeat;
  const Trace* a = reference.samples.find(reference.cell.index, reference_key);
  const Trace* b = candidate.samples.find(candidate.cell.index, candidate_key);
  if (a == nullptr || b == nullptr) {
    pair.state = a == nullptr ? PairState::kReferenceMissing : PairState::kCandidateMissing;
    return pair;
  }
  pair.divergence =
      compare_samples(*a, *b, comparison_options(request, reference.cell, candidate.cell));
  pair.flip = classify_flip(pair.divergence, cell_sampling(request, candidate.cell), thresholds);
  return pair;
}

std::vector<int32_t> tokens_of(const Trace& trace) {
  std::vector<int32_t> tokens;
  for (const TracePosition& position : trace.positions) tokens.push_back(position.token_id);
  return tokens;
}

using OutputsByChoice = std::map<std::pair<int32_t, int32_t>, std::set<std::vector<int32_t>>>;

void collect_outputs(OutputsByChoice& outputs, const CellSide& side,
                     const std::map<int32_t, int32_t>& prompt_numbers) {
  for (const auto& [key, trace] : side.samples.of_cell(side.cell.index)) {
    const auto number = prompt_numbers.find(key.prompt_index);
    if (number == prompt_numbers.end() || trace->finish_reason == FinishReason::kError) continue;
    outputs[{number->second, key.sample_index}].insert(tokens_of(*trace));
  }
}

int64_t most_distinct_outputs(const CellSide& reference, const CellSide& candidate,
                              const std::map<int32_t, int32_t>& prompt_map) {
  std::map<int32_t, int32_t> reference_numbers;
  std::map<int32_t, int32_t> candidate_numbers;
  for (const auto& [mine, theirs] : prompt_map) {
    reference_numbers[mine] = mine;
    candidate_numbers[theirs] = mine;
  }
  OutputsByChoice outputs;
  collect_outputs(outputs, reference, reference_numbers);
  collect_outputs(outputs, candidate, candidate_numbers);
  size_t most = 0;
  for (const auto& [choice, distinct] : outputs) most = std::max(most, distinct.size());
  return static_cast<int64_t>(most);
}

}  // namespace

CellComparison describe_cell(const CellSide& reference, const CellSide& candidate) {
  CellComparison line;
  line.name = candidate.cell.name;
  line.values = candidate.cell.values;
  line.reference_name = reference.cell.name;
  line.group = candidate.cell.reference_index;
  line.is_reference = candidate.cell.is_reference();
  line.exercised = reference.cell.exercised && candidate.cell.exercised;
  line.not_exercised_reason = candidate.cell.exercised ? reference.cell.not_exercised_reason
                                                       : candidate.cell.not_exercised_reason;
  line.complete = reference.cell.complete && candidate.cell.complete;
  line.n_samples = static_cast<int64_t>(candidate.samples.of_cell(candidate.cell.index).size());
  return line;
}

void compare_cells(CellComparison& line, const CellSide& reference, const CellSide& candidate,
                   const std::map<int32_t, int32_t>& prompt_map,
                   const std::set<SampleKey>& expected, RepeatPairing pairing,
                   const FlipThresholds& thresholds) {
  for (const SampleKey& key : expected) {
    SampleKey reference_key = key;
    SampleKey candidate_key = key;
    candidate_key.prompt_index = prompt_map.at(key.prompt_index);
    if (pairing == RepeatPairing::kFirstRepeat) reference_key.repeat = 0;
    line.pairs.push_back(
        compare_pair(reference, candidate, key, reference_key, candidate_key, thresholds));
  }
  line.distinct_outputs = most_distinct_outputs(reference, candidate, prompt_map);
}

}  // namespace isobit

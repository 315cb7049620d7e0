#include "compare/pairing.h"

#include <algorithm>
#include <utility>

#include "compare/answers.h"
#include "compare/run_facts.h"

namespace isobit {
namespace {

struct PairKeys {
  SampleKey reference;
  SampleKey candidate;
};

AnswerTiming timing_of(const Trace& trace) {
  return {.ttft_ms = trace.ttft_ms,
          .total_ms = trace.total_ms,
          .n_tokens = static_cast<int32_t>(trace.positions.size())};
}

PairComparison compare_pair(const CellSide& reference, const CellSide& candidate,
                            const PairKeys& keys, const PairingOptions& options) {
  const auto prompt = static_cast<size_t>(keys.reference.prompt_index);
  const Request& request = reference.run.requests[prompt];
  PairComparison pair{.prompt_index = keys.reference.prompt_index,
                      .request_id = request.id,
                      .sample_index = keys.candidate.sample_index,
                      .repeat = keys.candidate.repeat};
  const Trace* a = reference.samples.find(reference.cell.index, keys.reference);
  const Trace* b = candidate.samples.find(candidate.cell.index, keys.candidate);
  if (a == nullptr || b == nullptr) {
    pair.state = a == nullptr ? PairState::kReferenceMissing : PairState::kCandidateMissing;
    return pair;
  }
  pair.reference_timing = timing_of(*a);
  pair.candidate_timing = timing_of(*b);
  SampleComparisonOptions how = comparison_options(request, reference.cell, candidate.cell);
  const ForcedRecord* forced =
      candidate.samples.find_forced(candidate.cell.index, keys.candidate, options.over_run);
  if (forced != nullptr) how.forced = forced->positions;
  how.rows = options.rows;
  const size_t n_rows = options.rows == nullptr ? 0 : options.rows->size();
  pair.divergence = compare_samples(*a, *b, how);
  if (options.rows != nullptr) {
    for (size_t i = n_rows; i < options.rows->size(); ++i)
      (*options.rows)[i].prompt_index = pair.prompt_index;
  }
  if (options.detail == Detail::kFull) pair.agreement = text_agreement(*a, *b);
  pair.flip =
      classify_flip(pair.divergence, cell_sampling(request, candidate.cell), options.thresholds);
  return pair;
}

std::vector<const Trace*> traces_of(const CellSide& side) {
  std::vector<const Trace*> traces;
  for (const auto& [key, trace] : side.samples.of_cell(side.cell.index)) traces.push_back(trace);
  return traces;
}

std::string why_no_texts(const RunRecord& reference, const RunRecord& candidate) {
  for (const RunRecord* run : {&reference, &candidate}) {
    if (run->redacted) return "run " + run->id + " is redacted: it keeps no texts";
  }
  return "an answer's text was not recorded";
}

void describe_answers(CellComparison& line, const CellSide& reference,
                      const std::vector<ChoiceAnswers>& choices) {
  line.distinct_outputs = choices.empty() ? 0 : 1;
  for (const ChoiceAnswers& choice : choices) {
    if (choice.known_same) continue;
    std::optional<DistinctOutputs> found = distinct_outputs(choice.answers);
    if (!found) continue;
    found->prompt_index = choice.prompt_index;
    found->sample_index = choice.sample_index;
    found->request_id = reference.run.requests[static_cast<size_t>(choice.prompt_index)].id;
    line.distinct_outputs = std::max(line.distinct_outputs, found->n_distinct);
    line.distinct.push_back(std::move(*found));
  }
  std::stable_sort(line.distinct.begin(), line.distinct.end(),
                   [](const DistinctOutputs& a, const DistinctOutputs& b) {
                     return a.n_distinct > b.n_distinct;
                   });
  line.spread = answer_spread(choices);
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
  line.changes = value_changes(reference.cell.values, candidate.cell.values);
  line.complete = reference.cell.complete && candidate.cell.complete;
  line.n_samples = static_cast<int64_t>(candidate.samples.of_cell(candidate.cell.index).size());
  return line;
}

void compare_cells(CellComparison& line, const CellSide& reference, const CellSide& candidate,
                   const std::map<int32_t, int32_t>& prompt_map,
                   const std::vector<SampleKey>& expected, const PairingOptions& options) {
  line.pairs.reserve(expected.size());
  for (const SampleKey& key : expected) {
    PairKeys keys{.reference = key, .candidate = key};
    keys.candidate.prompt_index = prompt_map.at(key.prompt_index);
    const bool asked_less_often = key.repeat > reference.samples.max_repeat();
    if (options.repeats == RepeatPairing::kFirstRepeat || asked_less_often)
      keys.reference.repeat = 0;
    line.pairs.push_back(compare_pair(reference, candidate, keys, options));
  }
  AnswersByChoice answers = answers_of(reference, candidate, prompt_map);
  std::vector<ChoiceAnswers> choices = answers.choices();
  SameChoices same;
  same.add(line);
  same.mark(choices, 2);  // one of each side
  describe_answers(line, reference, choices);
  line.shared_suspicions = shared_suspicions(line);
  if (options.detail == Detail::kFull)
    line.agreement = cell_agreement(line, why_no_texts(reference.run, candidate.run));
  line.reference_price = price_of(reference.cell, traces_of(reference));
  line.price = price_of(candidate.cell, traces_of(candidate));
  line.price_ratio = price_ratio(line.reference_price, line.price);
}

}  // namespace isobit

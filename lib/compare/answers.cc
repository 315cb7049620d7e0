#include "compare/answers.h"

#include <algorithm>
#include <tuple>

#include "compare/sorted.h"

namespace isobit {
namespace {

int32_t common_prefix(const Trace& a, const Trace& b, int32_t at_most) {
  const auto n = std::min({a.positions.size(), b.positions.size(), static_cast<size_t>(at_most)});
  size_t i = 0;
  while (i < n && a.positions[i].token_id == b.positions[i].token_id) ++i;
  return static_cast<int32_t>(i);
}

bool is_same(const PairComparison& pair) {
  return pair.sameness(Level::kBitwise) == Sameness::kSame && pair.divergence.max_drift.has_value();
}

}  // namespace

void SameChoices::add(const CellComparison& cell) {
  for (const PairComparison& pair : cell.pairs) {
    if (!is_same(pair)) not_same_.emplace_back(pair.prompt_index, pair.sample_index);
  }
}

void SameChoices::mark(std::vector<ChoiceAnswers>& choices, size_t n_answers) const {
  const auto not_same = sorted_once(not_same_);
  for (ChoiceAnswers& choice : choices) {
    const std::pair key(choice.prompt_index, choice.sample_index);
    choice.known_same = choice.answers.size() == n_answers &&
                        !std::binary_search(not_same.begin(), not_same.end(), key);
  }
}

void AnswersByChoice::add(const CellSide& side, const std::map<int32_t, int32_t>& to_reference) {
  for (const auto& [key, trace] : side.samples.of_cell(side.cell.index)) {
    const auto prompt = to_reference.find(key.prompt_index);
    if (prompt == to_reference.end() || trace->finish_reason == FinishReason::kError) continue;
    answers_.push_back(
        {.prompt_index = prompt->second, .sample_index = key.sample_index, .trace = trace});
  }
}

std::vector<ChoiceAnswers> AnswersByChoice::choices() {
  const auto choice = [](const Answer& a) { return std::tuple(a.prompt_index, a.sample_index); };
  std::stable_sort(answers_.begin(), answers_.end(),
                   [&](const Answer& a, const Answer& b) { return choice(a) < choice(b); });
  traces_.clear();
  for (const Answer& answer : answers_) traces_.push_back(answer.trace);
  std::vector<ChoiceAnswers> choices;
  for (size_t i = 0; i < answers_.size();) {
    size_t end = i + 1;
    while (end < answers_.size() && choice(answers_[end]) == choice(answers_[i])) ++end;
    choices.push_back({.prompt_index = answers_[i].prompt_index,
                       .sample_index = answers_[i].sample_index,
                       .answers = std::span(traces_).subspan(i, end - i)});
    i = end;
  }
  return choices;
}

AnswersByChoice answers_of(const CellSide& reference, const CellSide& candidate,
                           const std::map<int32_t, int32_t>& prompt_map) {
  std::map<int32_t, int32_t> of_reference;
  std::map<int32_t, int32_t> of_candidate;
  for (const auto& [mine, theirs] : prompt_map) {
    of_reference[mine] = mine;
    of_candidate[theirs] = mine;
  }
  AnswersByChoice answers;
  answers.add(reference, of_reference);
  if (&reference.cell != &candidate.cell) answers.add(candidate, of_candidate);
  return answers;
}

int32_t common_prefix(std::span<const Trace* const> answers) {
  auto n = static_cast<int32_t>(answers[0]->positions.size());
  for (const Trace* answer : answers.subspan(1)) n = common_prefix(*answers[0], *answer, n);
  return n;
}

}  // namespace isobit

// All answers that two cells gave to one choice of one prompt, side by side.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compare/pairing.h"

namespace isobit {

struct ChoiceAnswers {
  int32_t prompt_index = 0;  // in the reference side's numbering
  int32_t sample_index = 0;
  std::span<const Trace* const> answers;  // by side, then by repeat
  // Compared already, and the same bits throughout: nothing need be read again.
  bool known_same = false;
};

// Choices of which a comparison of pairs has found every answer to be the same, so that the figures
// below need not read them once more.
class SameChoices {
 public:
  void add(const CellComparison& cell);
  // Marks the choices that have just `n_answers` answers, each of which was paired.
  void mark(std::vector<ChoiceAnswers>& choices, size_t n_answers) const;

 private:
  std::vector<std::pair<int32_t, int32_t>> not_same_;
};

class AnswersByChoice {
 public:
  // `to_reference` takes a prompt of this side to the reference's numbering; a prompt that it lacks
  // is left out, as are answers that the target failed on.
  void add(const CellSide& side, const std::map<int32_t, int32_t>& to_reference);

  // By (prompt, choice). The spans live until the next call of this class.
  std::vector<ChoiceAnswers> choices();

 private:
  struct Answer {
    int32_t prompt_index = 0;
    int32_t sample_index = 0;
    const Trace* trace = nullptr;
  };
  std::vector<Answer> answers_;
  std::vector<const Trace*> traces_;
};

// Of the reference and the candidate; the answers once where both are one cell.
AnswersByChoice answers_of(const CellSide& reference, const CellSide& candidate,
                           const std::map<int32_t, int32_t>& prompt_map);

// Positions that all answers share, from the first on. REQUIRES: at least one answer.
int32_t common_prefix(std::span<const Trace* const> answers);

}  // namespace isobit

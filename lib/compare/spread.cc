#include "compare/spread.h"

#include <algorithm>
#include <cmath>

#include "compare/answers.h"
#include "compare/bits.h"

namespace isobit {
namespace {

class Moments {
 public:
  void add(double x) {  // Welford 1962
    ++n_;
    const double from_old = x - mean_;
    mean_ += from_old / static_cast<double>(n_);
    sum_of_squares_ += from_old * (x - mean_);
  }
  double mean() const { return mean_; }
  double sample_deviation() const {
    return n_ < 2 ? 0 : std::sqrt(sum_of_squares_ / static_cast<double>(n_ - 1));
  }
  std::optional<double> mean_of_any() const {
    return n_ == 0 ? std::nullopt : std::optional(mean_);
  }

 private:
  int64_t n_ = 0;
  double mean_ = 0;
  double sum_of_squares_ = 0;
};

// Of the row's most likely token; the chosen one's where no list was recorded.
std::optional<float> top1_logprob(const TracePosition& position) {
  const float logprob = position.top.empty() ? position.logprob : position.top[0].logprob;
  const bool recorded = !position.top.empty() || position.logprob != 0;
  return recorded && !std::isnan(logprob) ? std::optional(logprob) : std::nullopt;
}

// Absent where an answer lacks the logprob.
std::optional<double> deviation_at(std::span<const Trace* const> answers, size_t position) {
  const std::optional<float> first = top1_logprob(answers[0]->positions[position]);
  if (!first) return std::nullopt;
  bool same = true;
  Moments probability;
  for (const Trace* answer : answers) {
    const std::optional<float> logprob = top1_logprob(answer->positions[position]);
    if (!logprob) return std::nullopt;
    same = same && bits_of(*logprob) == bits_of(*first);
  }
  if (same) return 0;
  for (const Trace* answer : answers)
    probability.add(std::exp(static_cast<double>(*top1_logprob(answer->positions[position]))));
  return probability.sample_deviation();
}

std::optional<double> mean_deviation(std::span<const Trace* const> answers, int32_t n_positions) {
  Moments deviations;
  for (int32_t i = 0; i < n_positions; ++i) {
    const std::optional<double> deviation = deviation_at(answers, static_cast<size_t>(i));
    if (!deviation) return std::nullopt;
    deviations.add(*deviation);
  }
  return deviations.mean_of_any();
}

bool parts(std::span<const Trace* const> answers, int32_t prefix) {
  return std::any_of(answers.begin(), answers.end(), [prefix](const Trace* answer) {
    return answer->positions.size() != static_cast<size_t>(prefix);
  });
}

double length_deviation(std::span<const Trace* const> answers) {
  Moments lengths;
  for (const Trace* answer : answers) lengths.add(static_cast<double>(answer->positions.size()));
  return lengths.sample_deviation();
}

}  // namespace

AnswerSpread answer_spread(const std::vector<ChoiceAnswers>& choices) {
  AnswerSpread spread;
  Moments lengths, div_indices, top1_deviations;
  for (const ChoiceAnswers& choice : choices) {
    if (choice.answers.size() < 2) continue;
    ++spread.n_prompts;
    if (choice.known_same) {
      lengths.add(0);
      top1_deviations.add(0);
      continue;
    }
    lengths.add(length_deviation(choice.answers));
    const int32_t prefix = common_prefix(choice.answers);
    if (parts(choice.answers, prefix)) {
      spread.div_indices.push_back(prefix);
      div_indices.add(prefix);
    }
    if (const auto deviation = mean_deviation(choice.answers, prefix))
      top1_deviations.add(*deviation);
  }
  std::sort(spread.div_indices.begin(), spread.div_indices.end());
  spread.std_length = lengths.mean_of_any();
  spread.mean_div_index = div_indices.mean_of_any();
  spread.std_top1_prob = top1_deviations.mean_of_any();
  return spread;
}

}  // namespace isobit

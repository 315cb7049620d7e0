// Three figures of how far the answers to one question spread over several settings, after Yuan et
// al. 2025, "Understanding and Mitigating Numerical Sources of Nondeterminism in LLM Inference"
// (arXiv 2506.09501, the LayerCast paper), section 3.1:
//
//   Avg_Std@Output_Length  the sample standard deviation of the answers' lengths in tokens, per
//                          prompt, then the mean over prompts (here: Std@length)
//   Div_Index              the position up to which the answers' tokens are the same, of prompts
//                          whose answers part
//   Avg_Std@top1_prob      the standard deviation of the most likely token's probability at each
//                          position before Div_Index (before the end where nothing parts), averaged
//                          over positions, then over prompts
//
// The paper leaves three things open; here the deviation of the probability is the sample one too,
// the position Div_Index itself (where the most likely tokens differ) is left out, and the average
// over prompts is one of the prompts' averages, so that a long answer weighs no more than a short
// one. Its settings are runtime configurations; here they are whatever answers are given: a cell's
// and its reference's, or those of all cells.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace isobit {

struct ChoiceAnswers;  // compare/answers.h

struct AnswerSpread {
  int64_t n_prompts = 0;                  // choices of prompts with at least two answers
  std::optional<double> std_length = {};  // tokens
  std::vector<int32_t> div_indices;       // ascending; empty: nothing parted
  std::optional<double> mean_div_index = {};
  std::optional<double> std_top1_prob = {};  // absent without logprobs in all answers
};

AnswerSpread answer_spread(const std::vector<ChoiceAnswers>& choices);

}  // namespace isobit

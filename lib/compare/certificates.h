// Which prompts cannot flip under any drift as large as the largest one seen, and which are fragile
// by nature.
//
// A row's most likely token changes only if another one gains on it by at least the margin m. If no
// logit moves by more than e then no gap between two moves by more than 2e, so m > 2e cannot flip.
// What is known of e: logits are not recorded, logprobs of the listed tokens are, and a logprob is
// a logit minus the row's log-sum-exp. That shift is common to the row, so *differences* of two
// logprobs are differences of their logits exactly (up to the rounding of the stored floats), while
// one logprob's drift is not a logit's. So 2e is measured as the largest *gap drift* (divergence.h)
// of all rows compared: the most by which two tokens that both sides list moved relative to each
// other; e, half of it, is the largest drift of a listed logit once the shift that moves all of
// them alike is taken out.
//
// A certificate says no more than that. It rests on the rows that were compared (another load may
// drift further), and on listed tokens (one from below the lists would have to gain more than the
// margin to matter, but its drift was not seen). It is about the argmax: sampled and penalised
// requests get none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/level.h"
#include "compare/statistics.h"
#include "record/run_record.h"

namespace isobit {

struct RunComparison;
class RecordedSamples;

// A prompt's narrowest choice, over the reference cells' first repeats.
struct PromptMargin {
  int32_t prompt_index = 0;  // into the base run's requests
  std::string request_id = {};
  double least_margin_nats = 0;
  int32_t position = 0;
  bool certified = false;     // above 2e
  bool within_noise = false;  // a tie by the flip thresholds
};

struct Certificates {
  std::optional<double> two_epsilon_nats = {};  // absent: no row showed two tokens on both sides
  int64_t n_rows = 0;                           // compared rows, whether or not they showed it
  std::string cell = {};                        // where the largest was seen
  std::string request_id = {};
  int32_t position = 0;
  Proportion certified;               // of the prompts below
  std::vector<PromptMargin> prompts;  // greedy, with margins recorded; narrowest first
  int64_t n_without_margins = 0;
  int64_t n_not_greedy = 0;
  std::string refusal = {};  // why there are none: "no compared row lists two tokens on both sides"

  std::vector<const PromptMargin*> fragile() const;  // within noise or not certified
};

Certificates certify(const RunComparison& comparison, const RunRecord& base,
                     const RecordedSamples& base_samples, const FlipThresholds& thresholds);

}  // namespace isobit

// One number of a selection, with what it rests on: an interval, a bound, and the samples that
// decide it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/statistics.h"
#include "gate/selection.h"

namespace isobit {

enum class FigureState {
  kKnown,
  kNothing,      // nothing to count: no pair, or none that could be compared
  kNotRecorded,  // the target does not give what the figure is made of
};
const char* name(FigureState state);

// A sample that a figure rests on. `position`: where its answer parts from the reference's.
struct DecidingSample {
  std::string cell, request_id;
  int32_t sample_index = 0, repeat = 0;
  std::optional<int32_t> position = {};
};

struct Figure {
  FigureState state = FigureState::kNothing;
  double value = 0;
  std::optional<Interval> interval95 = {};  // two-sided
  // One-sided 95 % bounds, for rules with confidence "bound".
  std::optional<double> low_bound95 = {}, high_bound95 = {};
  std::string counted;                   // "2 of 64 prompts differ"
  int64_t n_trials = 0;                  // of a rate
  std::vector<DecidingSample> deciding;  // the first few
  int64_t n_deciding = 0;                // all of them
  std::string missing;                   // of a figure that is not known: what, and why
};

// Shares of prompts, counted as the comparison counts them: one pair that differs decides a prompt.
Figure token_mismatch_rate(const Selection& selection);
Figure token_match_rate(const Selection& selection);
Figure bit_mismatch_rate(const Selection& selection);
Figure bit_match_rate(const Selection& selection);
Figure missing_rate(const Selection& selection);  // of answers

// Numbers of answers.
Figure token_flips(const Selection& selection);
Figure suspicious_flips(const Selection& selection);
Figure sampling_flips(const Selection& selection);
Figure drift_flips(const Selection& selection);
Figure tie_flips(const Selection& selection);
Figure drifted_answers(const Selection& selection);
Figure finish_differences(const Selection& selection);
Figure failed_answers(const Selection& selection);
Figure distinct_outputs(const Selection& selection);  // of one prompt in one cell, the most

Figure first_flip_position(const Selection& selection);  // the earliest
Figure max_drift_nats(const Selection& selection);
Figure max_drift_ulp(const Selection& selection);
Figure max_flip_margin(const Selection& selection);
Figure top_agreement(const Selection& selection);  // mean over answers

Figure max_gap_drift(const Selection& selection);

// How much alike two answers are, at Detail::kFull; means over answers.
Figure edit_similarity(const Selection& selection);
Figure chrf(const Selection& selection);
Figure embedding_cosine(const Selection& selection);

// Of a whole cell, as the comparison computed them.
Figure throughput_ratio(const Selection& selection);
Figure std_length(const Selection& selection);
Figure std_top1_prob(const Selection& selection);

// What the comparison concludes from all rows; the second and third at Detail::kFull.
Figure survival_share(const Selection& selection);         // of the cell where it is least
Figure flip_margin_1_percent(const Selection& selection);  // of the run
Figure certified_rate(const Selection& selection);         // of the run's prompts
Figure undecided_divergences(const Selection& selection);
Figure run_to_run_divergences(const Selection& selection);  // decided, or among what remains

// Against the noise of the reference's own repeats.
Figure noise_p_value(const Selection& selection);
Figure excess_mismatch_rate(const Selection& selection);

// The candidate's time over the reference's.
Figure ttft_p50_ratio(const Selection& selection);
Figure ttft_p95_ratio(const Selection& selection);
Figure latency_p50_ratio(const Selection& selection);
Figure latency_p95_ratio(const Selection& selection);
Figure request_speed_ratio(const Selection& selection);

// Both sides' times over one selection; absent where a side recorded none.
struct Timings {
  double ttft_p50_ms = 0, ttft_p95_ms = 0, latency_p50_ms = 0, latency_p95_ms = 0;
  double tokens_per_s = 0;  // generated, per request in flight: all tokens over all requests' time
};
enum class TimedSide { kReference, kCandidate };
std::optional<Timings> timings_of(const Selection& selection, TimedSide side);

}  // namespace isobit

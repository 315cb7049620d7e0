// What an answer costs in time, over the pairs of a selection, on both sides.
#include <algorithm>
#include <cmath>

#include "gate/figure_counting.h"

namespace isobit {
namespace {

// The nearest rank: the smallest recorded time that at least this share of the times do not
// exceed. REQUIRES: not empty.
double percentile(std::vector<double>& times, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(times.size())));
  const auto at = times.begin() + static_cast<ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

const AnswerTiming& timing_of(const PairComparison& pair, TimedSide side) {
  return side == TimedSide::kReference ? pair.reference_timing : pair.candidate_timing;
}

// 0 was not recorded; a time that is not finite, or a first token after the last, is a clock that
// jumped.
bool is_time(const AnswerTiming& t) {
  return std::isfinite(t.total_ms) && t.ttft_ms > 0 && t.ttft_ms <= t.total_ms;
}

Figure ratio_of(const Selection& selection, double Timings::*what, const char* unit) {
  const auto reference = timings_of(selection, TimedSide::kReference),
             candidate = timings_of(selection, TimedSide::kCandidate);
  if (n_compared(selection) == 0) return nothing("no pair was compared");
  if (!reference || !candidate)
    return not_recorded(std::string("no times ") +
                        (candidate ? "of the reference's answers" : "of the candidate's answers"));
  Figure figure;
  figure.state = FigureState::kKnown;
  figure.value = (*candidate).*what / (*reference).*what;
  figure.n_trials = n_compared(selection);
  figure.counted =
      fmt::format("{:.4g} {} over {:.4g} {}", (*candidate).*what, unit, (*reference).*what, unit);
  return figure;
}

}  // namespace

std::optional<Timings> timings_of(const Selection& selection, TimedSide side) {
  std::vector<double> first, total;
  double tokens = 0, seconds = 0;
  each_pair(selection, [&](const CellComparison&, const PairComparison& pair) {
    const AnswerTiming& t = timing_of(pair, side);
    if (pair.state != PairState::kCompared || !is_time(t)) return;
    first.push_back(t.ttft_ms);
    total.push_back(t.total_ms);
    tokens += t.n_tokens;
    seconds += t.total_ms / 1000;
  });
  if (first.empty()) return std::nullopt;
  Timings timings;
  timings.ttft_p50_ms = percentile(first, 0.50);
  timings.ttft_p95_ms = percentile(first, 0.95);
  timings.latency_p50_ms = percentile(total, 0.50);
  timings.latency_p95_ms = percentile(total, 0.95);
  timings.tokens_per_s = tokens / seconds;
  return timings;
}

Figure ttft_p50_ratio(const Selection& selection) {
  return ratio_of(selection, &Timings::ttft_p50_ms, "ms");
}

Figure ttft_p95_ratio(const Selection& selection) {
  return ratio_of(selection, &Timings::ttft_p95_ms, "ms");
}

Figure latency_p50_ratio(const Selection& selection) {
  return ratio_of(selection, &Timings::latency_p50_ms, "ms");
}

Figure latency_p95_ratio(const Selection& selection) {
  return ratio_of(selection, &Timings::latency_p95_ms, "ms");
}

Figure request_speed_ratio(const Selection& selection) {
  return ratio_of(selection, &Timings::tokens_per_s, "tokens/s");
}

}  // namespace isobit

// What the comparison concludes from all rows, as figures that a rule can bound: how long answers
// stay the same, how wide a choice still flips, how many prompts cannot, and which kind a
// divergence is of.
#include <algorithm>

#include "gate/figure_counting.h"

namespace isobit {
namespace {

bool diverges(const PairComparison& pair) {
  return pair.state == PairState::kCompared && (pair.divergence.token || pair.divergence.numeric);
}

}  // namespace

Figure survival_share(const Selection& selection) {
  Figure figure = nothing("no pair was compared");
  for (const SelectedCell& at : selection.cells) {
    const CellComparison& cell = *at.cell;
    if (cell.counts.n_pairs - cell.counts.missing - cell.counts.errors <= 0) continue;
    const bool split = !cell.survival.empty();
    const double share = split ? cell.survival.back().share_same : 1;
    if (figure.state == FigureState::kKnown && share >= figure.value) continue;
    figure = {};
    figure.state = FigureState::kKnown;
    figure.value = share;
    figure.n_trials = cell.counts.n_pairs;
    figure.counted = split ? fmt::format("still the same after position {}, in {}",
                                         cell.survival.back().position, cell.name)
                           : "no answer split";
    if (split) figure.interval95 = cell.survival.back().interval95;
  }
  return figure;
}

Figure flip_margin_1_percent(const Selection& selection) {
  const auto& result = selection.comparison->flip_law;
  if (!result) return nothing("no flip law was fitted");
  if (result->n_rows == 0 && result->n_without_drift > 0) {
    Figure figure;
    figure.state = FigureState::kKnown;
    figure.n_trials = result->n_without_drift;
    figure.counted = "no row drifted";
    return figure;
  }
  if (!result->law) return nothing("there is no flip law: " + result->refusal);
  const FlipLaw& law = *result->law;
  Figure figure;
  figure.state = FigureState::kKnown;
  figure.value = law.ratio_1_percent.value * law.median_drift_nats;
  figure.interval95 = Interval{.low = law.ratio_1_percent.interval95.low * law.median_drift_nats,
                               .high = law.ratio_1_percent.interval95.high * law.median_drift_nats};
  figure.n_trials = result->n_rows;
  figure.counted = fmt::format("of {} flips in {} rows, at the median drift of {:.2g} nat",
                               result->n_flips, result->n_rows, law.median_drift_nats);
  return figure;
}

Figure certified_rate(const Selection& selection) {
  const auto& certificates = selection.comparison->certificates;
  if (!certificates) return nothing("no certificates were computed");
  if (!certificates->refusal.empty())
    return certificates->two_epsilon_nats ? nothing(certificates->refusal)
                                          : not_recorded(certificates->refusal);
  const Proportion& certified = certificates->certified;
  if (certified.trials == 0) return nothing("no prompt could be judged");
  Figure figure;
  figure.state = FigureState::kKnown;
  figure.n_trials = certified.trials;
  figure.value = static_cast<double>(certified.matches) / static_cast<double>(certified.trials);
  figure.interval95 = certified.wilson95;
  figure.low_bound95 =
      1 - failure_rate_bound95(certified.trials - certified.matches, certified.trials);
  figure.high_bound95 = failure_rate_bound95(certified.matches, certified.trials);
  figure.counted = fmt::format("{} of {} cannot flip", certified.matches,
                               counted_text(certified.trials, "prompt", "prompts"));
  return figure;
}

Figure undecided_divergences(const Selection& selection) {
  return count_answers(selection, "differ for a reason that the cells do not decide",
                       [](const PairComparison& p) { return diverges(p) && p.kinds.size() != 1; });
}

Figure run_to_run_divergences(const Selection& selection) {
  return count_answers(selection, "differ from run to run", [](const PairComparison& p) {
    return diverges(p) && std::ranges::find(p.kinds, DivergenceKind::kRunToRun) != p.kinds.end();
  });
}

}  // namespace isobit

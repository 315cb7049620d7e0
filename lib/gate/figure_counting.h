// How figures are counted over the pairs of a selection; for the files that define figures.
#pragma once

#include <fmt/format.h>

#include "gate/figure.h"

namespace isobit {

inline constexpr size_t kDecidingShown = 3;

Figure nothing(std::string why);
Figure not_recorded(std::string what);
void note_deciding(Figure& figure, const CellComparison& cell, const PairComparison& pair);

int64_t n_compared(const Selection& selection);

// "1 answer", "2 answers"
std::string counted_text(int64_t n, const char* singular, const char* plural);

template <typename Visit>
void each_pair(const Selection& selection, const Visit& visit) {
  for (const SelectedCell& cell : selection.cells) {
    for (const PairComparison* pair : cell.pairs) visit(*cell.cell, *pair);
  }
}

template <typename Holds>
bool any_pair(const Selection& selection, const Holds& holds) {
  bool any = false;
  each_pair(selection,
            [&](const CellComparison&, const PairComparison& pair) { any = any || holds(pair); });
  return any;
}

// Of the compared pairs, those that hold.
template <typename Holds>
Figure count_answers(const Selection& selection, const char* what, const Holds& holds) {
  Figure figure;
  each_pair(selection, [&](const CellComparison& cell, const PairComparison& pair) {
    if (pair.state != PairState::kCompared) return;
    ++figure.n_trials;
    if (!holds(pair)) return;
    ++figure.value;
    note_deciding(figure, cell, pair);
  });
  if (figure.n_trials == 0) return nothing("no pair was compared");
  figure.state = FigureState::kKnown;
  figure.counted = fmt::format("{:.0f} of {} {}", figure.value,
                               counted_text(figure.n_trials, "answer", "answers"), what);
  return figure;
}

// The largest of what `value_of` gives for a pair; it gives nothing for a pair that has none.
template <typename ValueOf>
Figure extreme_pair(const Selection& selection, const ValueOf& value_of) {
  Figure figure = nothing("no pair was compared");
  const CellComparison* most_cell = nullptr;
  const PairComparison* most = nullptr;
  each_pair(selection, [&](const CellComparison& cell, const PairComparison& pair) {
    const std::optional<double> value = value_of(pair);
    if (!value || (most != nullptr && *value <= figure.value)) return;
    figure.state = FigureState::kKnown;
    figure.value = *value;
    most_cell = &cell;
    most = &pair;
  });
  if (most == nullptr) return figure;
  figure.missing.clear();
  note_deciding(figure, *most_cell, *most);
  figure.counted = "the largest";
  return figure;
}

template <typename ValueOf>
Figure mean_of_pairs(const Selection& selection, const ValueOf& value_of) {
  Figure figure;
  each_pair(selection, [&](const CellComparison&, const PairComparison& pair) {
    const std::optional<double> value = value_of(pair);
    if (!value) return;
    figure.value += *value;
    ++figure.n_trials;
  });
  if (figure.n_trials == 0) return nothing("no pair was compared");
  figure.state = FigureState::kKnown;
  figure.value /= static_cast<double>(figure.n_trials);
  figure.counted = fmt::format("mean of {}", counted_text(figure.n_trials, "answer", "answers"));
  return figure;
}

}  // namespace isobit

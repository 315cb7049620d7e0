#include "gate/figure_counting.h"

namespace isobit {

Figure nothing(std::string why) {
  Figure figure;
  figure.missing = std::move(why);
  return figure;
}

Figure not_recorded(std::string what) {
  Figure figure;
  figure.state = FigureState::kNotRecorded;
  figure.missing = std::move(what);
  return figure;
}

void note_deciding(Figure& figure, const CellComparison& cell, const PairComparison& pair) {
  ++figure.n_deciding;
  if (figure.deciding.size() == kDecidingShown) return;
  DecidingSample sample{.cell = cell.name,
                        .request_id = pair.request_id,
                        .sample_index = pair.sample_index,
                        .repeat = pair.repeat};
  const Divergence& d = pair.divergence;
  if (d.token) {
    sample.position = d.token->position;
  } else if (d.numeric) {
    sample.position = d.numeric->position;
  }
  figure.deciding.push_back(std::move(sample));
}

int64_t n_compared(const Selection& selection) {
  int64_t n = 0;
  each_pair(selection, [&](const CellComparison&, const PairComparison& pair) {
    n += pair.state == PairState::kCompared ? 1 : 0;
  });
  return n;
}

std::string counted_text(int64_t n, const char* singular, const char* plural) {
  return fmt::format("{} {}", n, n == 1 ? singular : plural);
}

}  // namespace isobit

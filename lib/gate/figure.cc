#include "gate/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "gate/figure_counting.h"
#include "gate/two_proportions.h"

namespace isobit {
namespace {

bool is_compared(const PairComparison& pair) {
  return pair.state == PairState::kCompared;
}

bool flips_as(const PairComparison& pair, FlipKind kind) {
  return pair.flip == kind;
}

double drift_nats(const PairComparison& pair) {
  return pair.divergence.max_drift->nats;
}

bool has_drift(const PairComparison& pair) {
  return is_compared(pair) && pair.divergence.max_drift.has_value();
}

std::optional<double> flip_margin(const PairComparison& pair) {
  if (!is_compared(pair) || !pair.divergence.token) return std::nullopt;
  const TokenDivergence& flip = *pair.divergence.token;
  if (!flip.reference_margin && !flip.candidate_margin) return std::nullopt;
  return std::max(flip.reference_margin.value_or(0), flip.candidate_margin.value_or(0));
}

// Of the cells of a selection, the most.
template <typename ValueOf>
Figure most_of_cells(const Selection& selection, const char* what_is_missing,
                     const ValueOf& value_of) {
  Figure figure =
      n_compared(selection) > 0 ? not_recorded(what_is_missing) : nothing("no pair was compared");
  for (const SelectedCell& cell : selection.cells) {
    const std::optional<double> value = value_of(*cell.cell);
    if (!value || (figure.state == FigureState::kKnown && *value <= figure.value)) continue;
    figure.state = FigureState::kKnown;
    figure.value = *value;
    figure.missing.clear();
  }
  return figure;
}

template <typename ValueOf>
Figure mean_agreement(const Selection& selection, const char* what_is_missing,
                      const ValueOf& value_of) {
  const auto of_pair = [&](const PairComparison& pair) -> std::optional<double> {
    return is_compared(pair) && pair.agreement ? value_of(*pair.agreement) : std::nullopt;
  };
  Figure figure = mean_of_pairs(selection, of_pair);
  if (figure.state != FigureState::kKnown && n_compared(selection) > 0)
    return not_recorded(what_is_missing);
  return figure;
}

}  // namespace

const char* name(FigureState state) {
  switch (state) {
    case FigureState::kKnown:
      return "known";
    case FigureState::kNothing:
      return "nothing";
    case FigureState::kNotRecorded:
      return "not_recorded";
  }
  return "unknown";
}

Figure token_flips(const Selection& selection) {
  return count_answers(selection, "have another token", [](const PairComparison& pair) {
    return pair.divergence.token.has_value();
  });
}

Figure suspicious_flips(const Selection& selection) {
  return count_answers(selection, "flipped suspiciously", [](const PairComparison& pair) {
    return flips_as(pair, FlipKind::kSuspicious);
  });
}

Figure sampling_flips(const Selection& selection) {
  return count_answers(selection, "were sampled otherwise", [](const PairComparison& pair) {
    return flips_as(pair, FlipKind::kSampling);
  });
}

Figure drift_flips(const Selection& selection) {
  return count_answers(selection, "flipped by drift",
                       [](const PairComparison& pair) { return flips_as(pair, FlipKind::kDrift); });
}

Figure tie_flips(const Selection& selection) {
  return count_answers(selection, "flipped at a tie",
                       [](const PairComparison& pair) { return flips_as(pair, FlipKind::kTie); });
}

Figure drifted_answers(const Selection& selection) {
  const bool any_evidence = any_pair(selection, [](const PairComparison& pair) {
    return is_compared(pair) && pair.divergence.evidence != NumericEvidence::kNone;
  });
  if (!any_evidence && n_compared(selection) > 0)
    return not_recorded("neither logits hashes nor logprobs on both sides");
  return count_answers(selection, "have other bits", [](const PairComparison& pair) {
    return pair.divergence.numeric.has_value();
  });
}

Figure finish_differences(const Selection& selection) {
  return count_answers(selection, "end otherwise", [](const PairComparison& pair) {
    return !pair.divergence.token &&
           pair.sameness(Level::kRequestReproducible) == Sameness::kDifferent;
  });
}

Figure failed_answers(const Selection& selection) {
  return count_answers(selection, "failed", [](const PairComparison& pair) {
    return pair.divergence.has_gap(GapKind::kError);
  });
}

Figure distinct_outputs(const Selection& selection) {
  Figure figure;
  for (const SelectedCell& cell : selection.cells) {
    if (cell.cell->distinct_outputs == 0) continue;
    figure.state = FigureState::kKnown;
    figure.value = std::max(figure.value, static_cast<double>(cell.cell->distinct_outputs));
  }
  if (figure.state != FigureState::kKnown) return nothing("no answer is recorded");
  figure.counted = fmt::format("{:.0f} distinct outputs of one prompt", figure.value);
  return figure;
}

// Without a flip the first one lies past every position that was compared.
Figure first_flip_position(const Selection& selection) {
  if (n_compared(selection) == 0) return nothing("no pair was compared");
  Figure figure = extreme_pair(selection, [](const PairComparison& pair) -> std::optional<double> {
    if (!is_compared(pair) || !pair.divergence.token) return std::nullopt;
    return -static_cast<double>(pair.divergence.token->position);
  });
  if (figure.state != FigureState::kKnown) {
    figure.state = FigureState::kKnown;
    figure.value = std::numeric_limits<double>::infinity();
    figure.counted = "no token differs";
    return figure;
  }
  figure.value = -figure.value;
  figure.counted = fmt::format("first flip at position {:.0f}", figure.value);
  return figure;
}

Figure max_drift_nats(const Selection& selection) {
  Figure figure = extreme_pair(selection, [](const PairComparison& pair) {
    return has_drift(pair) ? std::optional(drift_nats(pair)) : std::nullopt;
  });
  if (figure.state != FigureState::kKnown && n_compared(selection) > 0)
    return not_recorded("no logprobs on both sides");
  return figure;
}

Figure max_drift_ulp(const Selection& selection) {
  Figure figure = extreme_pair(selection, [](const PairComparison& pair) {
    return has_drift(pair) ? std::optional<double>(pair.divergence.max_drift->ulp) : std::nullopt;
  });
  if (figure.state != FigureState::kKnown && n_compared(selection) > 0)
    return not_recorded("no logprobs on both sides");
  return figure;
}

Figure max_flip_margin(const Selection& selection) {
  const Figure flips = token_flips(selection);
  if (flips.state != FigureState::kKnown) return flips;
  Figure figure = extreme_pair(selection, flip_margin);
  if (figure.state == FigureState::kKnown) return figure;
  if (flips.value > 0) return not_recorded("no margins at the flips");
  figure.state = FigureState::kKnown;
  figure.counted = "no token differs";
  return figure;
}

Figure top_agreement(const Selection& selection) {
  Figure figure = mean_of_pairs(selection, [](const PairComparison& pair) {
    return is_compared(pair) ? pair.divergence.top_agreement_before : std::optional<double>();
  });
  if (figure.state != FigureState::kKnown && n_compared(selection) > 0)
    return not_recorded("no top lists on both sides");
  return figure;
}

Figure max_gap_drift(const Selection& selection) {
  Figure figure = extreme_pair(selection, [](const PairComparison& pair) {
    const auto& gap = pair.divergence.max_gap_drift;
    return is_compared(pair) && gap ? std::optional(gap->nats) : std::nullopt;
  });
  if (figure.state != FigureState::kKnown && n_compared(selection) > 0)
    return not_recorded("no two tokens with logprobs on both sides");
  return figure;
}

Figure edit_similarity(const Selection& selection) {
  return mean_agreement(selection, "tokens were not held beside each other",
                        [](const TextAgreement& a) { return std::optional(a.edit_similarity); });
}

Figure chrf(const Selection& selection) {
  return mean_agreement(selection, "no texts on both sides",
                        [](const TextAgreement& a) { return a.chrf; });
}

Figure embedding_cosine(const Selection& selection) {
  return mean_agreement(selection, "no embeddings on both sides",
                        [](const TextAgreement& a) { return a.cosine; });
}

Figure throughput_ratio(const Selection& selection) {
  return most_of_cells(selection, "no throughput on both sides",
                       [](const CellComparison& cell) { return cell.price_ratio.tokens_per_s; });
}

Figure std_length(const Selection& selection) {
  return most_of_cells(selection, "no prompt with two answers",
                       [](const CellComparison& cell) { return cell.spread.std_length; });
}

Figure std_top1_prob(const Selection& selection) {
  return most_of_cells(selection, "no logprobs in all answers",
                       [](const CellComparison& cell) { return cell.spread.std_top1_prob; });
}

}  // namespace isobit

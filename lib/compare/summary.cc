#include "compare/summary.h"

#include <algorithm>
#include <set>

#include "compare/mean.h"

namespace isobit {
namespace {

Sameness worse(Sameness a, Sameness b) {
  const auto rank = [](Sameness s) {
    switch (s) {
      case Sameness::kDifferent:
        return 3;
      case Sameness::kMissing:
        return 2;
      case Sameness::kUnsupported:
        return 1;
      case Sameness::kSame:
        return 0;
    }
    return 2;
  };
  return rank(a) >= rank(b) ? a : b;
}

// How long each compared pair stayed the same. A pair with a failed side tells nothing.
std::vector<Lifetime> lifetimes(const CellComparison& cell) {
  std::vector<Lifetime> lifetimes;
  lifetimes.reserve(cell.pairs.size());
  for (const PairComparison& pair : cell.pairs) {
    const Divergence& d = pair.divergence;
    if (pair.state != PairState::kCompared || d.has_gap(GapKind::kError)) continue;
    const int32_t common = std::min(d.reference_length, d.candidate_length);
    lifetimes.push_back(
        {.positions = d.token ? d.token->position : common, .split = d.token.has_value()});
  }
  return lifetimes;
}

bool is_compared_cell(const RunComparison& comparison, const CellComparison& cell) {
  return comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference;
}

std::set<std::string> axes_of(const RunComparison& comparison) {
  std::set<std::string> axes;
  for (const CellComparison& cell : comparison.cells) {
    for (const auto& [axis, value] : cell.values) axes.insert(axis);
  }
  return axes;
}

// An axis that splits the cells into groups: two reference cells differ in it.
bool splits_groups(const RunComparison& comparison, const std::string& axis) {
  std::set<std::string> values;
  for (const CellComparison& cell : comparison.cells) {
    const auto at = cell.values.find(axis);
    if (cell.is_reference && at != cell.values.end()) values.insert(at->second);
  }
  return values.size() > 1;
}

AxisValueSummary summarise_value(const RunComparison& comparison, const std::string& axis,
                                 const std::string& value) {
  AxisValueSummary summary;
  summary.value = value;
  MatchCounter tokens;
  MatchCounter bits;
  for (size_t c = 0; c < comparison.cells.size(); ++c) {
    const CellComparison& cell = comparison.cells[c];
    const auto at = cell.values.find(axis);
    if (at == cell.values.end() || at->second != value || !is_compared_cell(comparison, cell))
      continue;
    ++summary.n_cells;
    summary.counts += cell.counts;
    for (const PairComparison& pair : cell.pairs) {
      const MatchCounter::Unit unit{static_cast<int32_t>(c), pair.prompt_index};
      tokens.add(unit, pair.sameness(Level::kRequestReproducible));
      bits.add(unit, pair.sameness(Level::kBitwise));
    }
  }
  summary.token_match = tokens.result();
  summary.bit_match = bits.result();
  return summary;
}

AxisSummary summarise_axis(const RunComparison& comparison, const std::string& axis) {
  AxisSummary summary{.axis = axis, .is_identity = splits_groups(comparison, axis), .values = {}};
  std::vector<std::string> values;
  for (const CellComparison& cell : comparison.cells) {
    const auto at = cell.values.find(axis);
    if (at == cell.values.end() ||
        std::find(values.begin(), values.end(), at->second) != values.end())
      continue;
    values.push_back(at->second);
  }
  for (const std::string& value : values)
    summary.values.push_back(summarise_value(comparison, axis, value));
  return summary;
}

}  // namespace

PairCounts& PairCounts::operator+=(const PairCounts& other) {
  n_pairs += other.n_pairs;
  exact_matches += other.exact_matches;
  bit_matches += other.bit_matches;
  numeric_divergences += other.numeric_divergences;
  token_divergences += other.token_divergences;
  finish_differences += other.finish_differences;
  errors += other.errors;
  missing += other.missing;
  unsupported += other.unsupported;
  suspicious_flips += other.suspicious_flips;
  return *this;
}

PairCounts count(const PairComparison& pair) {
  PairCounts counts{.n_pairs = 1};
  const Sameness tokens = pair.sameness(Level::kRequestReproducible);
  const Sameness bits = pair.sameness(Level::kBitwise);
  const bool compared = pair.state == PairState::kCompared;
  const bool error = compared && pair.divergence.has_gap(GapKind::kError);
  counts.exact_matches = tokens == Sameness::kSame ? 1 : 0;
  counts.bit_matches = bits == Sameness::kSame ? 1 : 0;
  counts.numeric_divergences = compared && pair.divergence.numeric ? 1 : 0;
  counts.token_divergences = compared && pair.divergence.token ? 1 : 0;
  counts.finish_differences = tokens == Sameness::kDifferent && !pair.divergence.token ? 1 : 0;
  counts.errors = error ? 1 : 0;
  counts.missing = !error && tokens == Sameness::kMissing ? 1 : 0;
  counts.unsupported = bits == Sameness::kUnsupported ? 1 : 0;
  counts.suspicious_flips = pair.flip == FlipKind::kSuspicious ? 1 : 0;
  return counts;
}

void widen(std::optional<Drift>& widest, const std::optional<Drift>& other) {
  if (!other) return;
  if (!widest) widest = Drift{};
  if (other->nats > widest->nats) {
    widest->nats = other->nats;
    widest->nats_position = other->nats_position;
  }
  if (other->ulp > widest->ulp) {
    widest->ulp = other->ulp;
    widest->ulp_position = other->ulp_position;
  }
}

void widen(std::optional<GapDrift>& widest, const std::optional<GapDrift>& other) {
  if (other && (!widest || other->nats > widest->nats)) widest = other;
}

Proportion MatchCounter::result() {
  const auto unit = [](const auto& counted) { return counted.first; };
  if (!std::ranges::is_sorted(units_, {}, unit)) std::ranges::sort(units_, {}, unit);
  int64_t matches = 0;
  int64_t trials = 0;
  for (size_t i = 0; i < units_.size();) {
    Sameness worst = units_[i].second;
    const Unit at = units_[i].first;
    for (; i < units_.size() && units_[i].first == at; ++i) worst = worse(worst, units_[i].second);
    matches += worst == Sameness::kSame ? 1 : 0;
    trials += worst == Sameness::kSame || worst == Sameness::kDifferent ? 1 : 0;
  }
  return proportion(matches, trials);
}

void summarise_pairs(CellComparison& cell) {
  MatchCounter tokens;
  MatchCounter bits;
  Mean before, after;
  for (const PairComparison& pair : cell.pairs) {
    cell.counts += count(pair);
    tokens.add({0, pair.prompt_index}, pair.sameness(Level::kRequestReproducible));
    bits.add({0, pair.prompt_index}, pair.sameness(Level::kBitwise));
    if (pair.state != PairState::kCompared) continue;
    const Divergence& d = pair.divergence;
    widen(cell.max_drift, d.max_drift);
    if (d.numeric) cell.numeric_positions.push_back(d.numeric->position);
    if (d.token) cell.token_positions.push_back(d.token->position);
    if (d.token && d.token->reference_margin)
      cell.flip_margins.push_back(*d.token->reference_margin);
    before.add(d.top_agreement_before);
    after.add(d.top_agreement_after);
    widen(cell.max_drift, d.max_drift_forced);
    widen(cell.max_gap_drift, d.max_gap_drift);
    cell.n_forced_positions += d.n_forced;
    cell.n_argmax_flips += d.n_argmax_flips;
  }
  cell.token_match = tokens.result();
  cell.bit_match = bits.result();
  cell.top_agreement = before.result();
  cell.top_agreement_after = after.result();
  cell.survival = survival_curve(lifetimes(cell));
  std::sort(cell.numeric_positions.begin(), cell.numeric_positions.end());
  std::sort(cell.token_positions.begin(), cell.token_positions.end());
  std::sort(cell.flip_margins.begin(), cell.flip_margins.end());
}

void summarise_cells(RunComparison& comparison) {
  MatchCounter tokens;
  MatchCounter bits;
  for (const CellComparison& cell : comparison.cells) {
    comparison.totals += cell.counts;
    for (const PairComparison& pair : cell.pairs) {
      tokens.add({0, pair.prompt_index}, pair.sameness(Level::kRequestReproducible));
      bits.add({0, pair.prompt_index}, pair.sameness(Level::kBitwise));
    }
  }
  comparison.token_match = tokens.result();
  comparison.bit_match = bits.result();
  for (const std::string& axis : axes_of(comparison))
    comparison.axes.push_back(summarise_axis(comparison, axis));
}

}  // namespace isobit

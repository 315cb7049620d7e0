#include "compare/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "compare/bits.h"
#include "compare/mean.h"
#include "compare/row_evidence.h"

namespace isobit {
namespace {

// One side, cut to the positions that count.
struct Answer {
  const Trace& trace;
  Side side;
  std::span<const TracePosition> positions;
  bool cut = false;  // by first_n: how the answer ends lies outside what is compared
  bool has_hashes = false;
  bool has_logprobs = false;

  int32_t length() const { return static_cast<int32_t>(positions.size()); }
  bool ended_by_stop() const {
    return !cut && (trace.finish_reason == FinishReason::kStopToken ||
                    trace.finish_reason == FinishReason::kStopString);
  }
};

Answer answer_of(const Trace& trace, Side side, const SampleComparisonOptions& options) {
  Answer answer{.trace = trace, .side = side, .positions = trace.positions};
  if (options.first_n && trace.positions.size() >= static_cast<size_t>(*options.first_n)) {
    answer.positions = answer.positions.first(static_cast<size_t>(*options.first_n));
    answer.cut = true;
  }
  answer.has_hashes = std::any_of(answer.positions.begin(), answer.positions.end(),
                                  [](const TracePosition& p) { return p.logits_hash.has_value(); });
  answer.has_logprobs = has_logprob_evidence(answer.positions);
  return answer;
}

void add_gap(Divergence& result, GapKind kind, Side side,
             std::optional<int32_t> position = std::nullopt) {
  const bool known =
      std::any_of(result.gaps.begin(), result.gaps.end(),
                  [&](const EvidenceGap& gap) { return gap.kind == kind && gap.side == side; });
  if (!known) result.gaps.push_back({.kind = kind, .side = side, .position = position});
}

// What differs between two rows, as far as it was recorded.
struct RowChange {
  bool same = false;    // known to be the same row, or the same lists
  bool moved = false;   // known to differ
  bool argmax = false;  // the most likely token differs
};

// Absent where nothing tells. Where the lists have too few tokens in common: a flip moved two
// tokens past each other, by both margins at least, and any other move may be of any size.
std::optional<double> drift_of(const TracePosition& a, const TracePosition& b, RowChange change) {
  if (change.same) return 0;
  if (const auto nats = gap_drift(a, b)) return nats;
  if (!change.moved) return std::nullopt;
  const auto of_a = margin_of(a);
  const auto of_b = margin_of(b);
  if (change.argmax && of_a && of_b) return static_cast<double>(*of_a) + *of_b;
  return std::numeric_limits<double>::infinity();
}

// Compares the two sides position by position and keeps what it finds.
class PairComparer {
 public:
  PairComparer(const Answer& reference, const Answer& candidate,
               const SampleComparisonOptions& options)
      : reference_(reference), candidate_(candidate), options_(options) {}

  Divergence run() {
    describe_sides();
    find_ending_gaps(reference_, candidate_);
    find_ending_gaps(candidate_, reference_);
    choose_evidence();
    compare_positions();
    compare_endings();
    compare_forced();
    count_what_is_left();
    return std::move(result_);
  }

 private:
  void describe_sides();
  void find_ending_gaps(const Answer& answer, const Answer& other);
  void choose_evidence();
  void compare_positions();
  void compare_row(int32_t i);
  void note_row_gaps(int32_t i);
  void note_drift(int32_t i, std::optional<Drift>& widest);
  void note_gap_drift(int32_t i, RowChange change);
  void note_numeric_divergence(int32_t i, bool hash, bool logprob, bool top);
  void note_token_divergence(int32_t i);
  void compare_endings();
  bool forced_over_reference() const;
  void compare_forced();
  void count_what_is_left();

  const TracePosition& reference_at(int32_t i) const {
    return reference_.positions[static_cast<size_t>(i)];
  }
  const TracePosition& candidate_at(int32_t i) const {
    return candidate_.positions[static_cast<size_t>(i)];
  }
  int32_t common_length() const { return std::min(reference_.length(), candidate_.length()); }

  Answer reference_;
  Answer candidate_;
  SampleComparisonOptions options_;
  Divergence result_;
};

void PairComparer::describe_sides() {
  result_.reference_finish = reference_.trace.finish_reason;
  result_.candidate_finish = candidate_.trace.finish_reason;
  result_.reference_length = reference_.length();
  result_.candidate_length = candidate_.length();
}

// Both sides had the same limit, so `length` explains no fewer positions than the other side
// reached.
void PairComparer::find_ending_gaps(const Answer& answer, const Answer& other) {
  const FinishReason finish = answer.trace.finish_reason;
  if (finish == FinishReason::kError) add_gap(result_, GapKind::kError, answer.side);
  if (answer.trace.non_finite) add_gap(result_, GapKind::kNonFinite, answer.side);
  if (answer.cut) return;
  if (finish == FinishReason::kCancelled) add_gap(result_, GapKind::kCancelled, answer.side);
  const int32_t explained = std::max({other.length(), options_.expected_tokens.value_or(0), 1});
  if (finish == FinishReason::kLength && answer.length() < explained) {
    add_gap(result_, GapKind::kTruncated, answer.side, answer.length());
  }
}

void PairComparer::choose_evidence() {
  if (reference_.has_hashes && candidate_.has_hashes) {
    result_.evidence = NumericEvidence::kLogitsHash;
  } else if (reference_.has_logprobs && candidate_.has_logprobs) {
    result_.evidence = NumericEvidence::kLogprobs;
  }
  if (reference_.has_hashes || candidate_.has_hashes)
    return;  // the missing hashes are gaps, per position
  if (reference_.has_logprobs && !candidate_.has_logprobs)
    add_gap(result_, GapKind::kLogprobMissing, Side::kCandidate, 0);
  if (candidate_.has_logprobs && !reference_.has_logprobs)
    add_gap(result_, GapKind::kLogprobMissing, Side::kReference, 0);
}

void PairComparer::compare_positions() {
  Mean agreement;
  for (int32_t i = 0; i < common_length(); ++i) {
    const bool same_context = !result_.token || i < options_.n_forced;
    if (!same_context) break;
    ++result_.n_compared;
    note_row_gaps(i);
    compare_row(i);
    if (reference_at(i).token_id != candidate_at(i).token_id) {
      if (!result_.token) note_token_divergence(i);
      continue;
    }
    if (result_.token) continue;
    note_drift(i, result_.max_drift);
    agreement.add(top_agreement(reference_at(i), candidate_at(i)));
  }
  result_.top_agreement_before = agreement.result();
}

void PairComparer::compare_row(int32_t i) {
  const TracePosition& a = reference_at(i);
  const TracePosition& b = candidate_at(i);
  const bool hash = a.logits_hash && b.logits_hash && *a.logits_hash != *b.logits_hash;
  const bool logprob = reference_.has_logprobs && candidate_.has_logprobs &&
                       a.token_id == b.token_id && bits_of(a.logprob) != bits_of(b.logprob);
  const bool top = top_lists_differ(a, b);
  const bool argmax = !a.top.empty() && !b.top.empty() && a.top[0].token_id != b.top[0].token_id;
  if (argmax) {
    ++result_.n_argmax_flips;
    if (!result_.first_argmax_flip) result_.first_argmax_flip = i;
  }
  const bool hashes_agree = a.logits_hash && b.logits_hash && !hash;
  note_gap_drift(i, {.same = hashes_agree || (!top && a.top.size() > 1 && b.top.size() > 1),
                     .moved = hash || logprob || top,
                     .argmax = argmax});
  if (!hash && !logprob && !top) return;
  ++result_.n_numeric_differences;
  if (!result_.numeric) note_numeric_divergence(i, hash, logprob, top);
}

void PairComparer::note_row_gaps(int32_t i) {
  for (const Answer* answer : {&reference_, &candidate_}) {
    const TracePosition& mine = answer->positions[static_cast<size_t>(i)];
    const TracePosition& other = answer == &reference_ ? candidate_at(i) : reference_at(i);
    const bool hashes_expected = reference_.has_hashes || candidate_.has_hashes;
    if (hashes_expected && !mine.logits_hash)
      add_gap(result_, GapKind::kHashMissing, answer->side, i);
    if (mine.top.size() < other.top.size()) add_gap(result_, GapKind::kTopMissing, answer->side, i);
    if (std::isnan(mine.logprob)) add_gap(result_, GapKind::kNonFinite, answer->side, i);
  }
}

void PairComparer::note_gap_drift(int32_t i, RowChange change) {
  const std::optional<double> nats = drift_of(reference_at(i), candidate_at(i), change);
  if (!nats) return;
  if (!result_.max_gap_drift || *nats > result_.max_gap_drift->nats)
    result_.max_gap_drift = GapDrift{.nats = *nats, .position = i};
  if (options_.rows == nullptr || !std::isfinite(*nats)) return;
  if (const std::optional<float> margin = margin_of(reference_at(i))) {
    options_.rows->push_back(
        {.margin = *margin, .gap_drift = static_cast<float>(*nats), .flipped = change.argmax});
  }
}

void PairComparer::note_drift(int32_t i, std::optional<Drift>& widest) {
  if (!reference_.has_logprobs || !candidate_.has_logprobs) return;
  if (!widest) widest = Drift{};
  Drift& drift = *widest;
  const float a = reference_at(i).logprob;
  const float b = candidate_at(i).logprob;
  if (const auto nats = distance_nats(a, b); nats && *nats > drift.nats) {
    drift.nats = *nats;
    drift.nats_position = i;
  }
  if (const auto ulp = ulp_distance(a, b); ulp && *ulp > drift.ulp) {
    drift.ulp = *ulp;
    drift.ulp_position = i;
  }
}

void PairComparer::note_numeric_divergence(int32_t i, bool hash, bool logprob, bool top) {
  NumericDivergence found{
      .position = i, .logits_hash_differs = hash, .logprob_differs = logprob, .top_differs = top};
  found.token_id = reference_at(i).token_id;
  found.reference_logprob = logprob_of(found.token_id, reference_at(i), reference_.has_logprobs);
  found.candidate_logprob = logprob_of(found.token_id, candidate_at(i), candidate_.has_logprobs);
  if (found.reference_logprob && found.candidate_logprob) {
    found.ulp = ulp_distance(*found.reference_logprob, *found.candidate_logprob);
    found.nats = distance_nats(*found.reference_logprob, *found.candidate_logprob);
  }
  found.reference_margin = margin_of(reference_at(i));
  found.candidate_margin = margin_of(candidate_at(i));
  result_.numeric = found;
}

void PairComparer::note_token_divergence(int32_t i) {
  const TracePosition& a = reference_at(i);
  const TracePosition& b = candidate_at(i);
  TokenDivergence found{
      .position = i, .reference_token = a.token_id, .candidate_token = b.token_id};
  found.reference_margin = margin_of(a);
  found.candidate_margin = margin_of(b);
  found.candidate_token_rank_in_reference = rank_of(b.token_id, a);
  found.reference_token_rank_in_candidate = rank_of(a.token_id, b);
  found.top_agreement = top_agreement(a, b);
  if (a.logits_hash && b.logits_hash) {
    found.same_row = *a.logits_hash == *b.logits_hash;
  } else if (!a.top.empty() && !b.top.empty()) {
    found.same_row = !top_lists_differ(a, b);
  }
  result_.token = found;
}

// An answer that stopped where the other went on diverged there, although only one side has a token
// to show.
void PairComparer::compare_endings() {
  if (result_.token) return;
  if (reference_.length() != candidate_.length()) {
    const bool reference_ended = reference_.length() < candidate_.length();
    if (!(reference_ended ? reference_ : candidate_).ended_by_stop())
      return;  // a gap says so already
    TokenDivergence found{.position = common_length()};
    const Answer& longer = reference_ended ? candidate_ : reference_;
    const TracePosition& next = longer.positions[static_cast<size_t>(common_length())];
    (reference_ended ? found.candidate_token : found.reference_token) = next.token_id;
    (reference_ended ? found.candidate_margin : found.reference_margin) = margin_of(next);
    result_.token = found;
  }
  result_.finish_differs =
      !reference_.cut && !candidate_.cut && result_.reference_finish != result_.candidate_finish;
}

bool PairComparer::forced_over_reference() const {
  const size_t n = std::min(options_.forced.size(), reference_.positions.size());
  for (size_t i = 0; i < n; ++i) {
    if (options_.forced[i].token_id != reference_.positions[i].token_id) return false;
  }
  return n > 0;
}

// From here on the candidate's side is its rows over the reference's tokens.
void PairComparer::compare_forced() {
  if (!result_.token || !forced_over_reference()) return;
  candidate_.positions = options_.forced;
  candidate_.has_logprobs = has_logprob_evidence(options_.forced);
  Mean agreement;
  for (int32_t i = result_.n_compared; i < common_length(); ++i) {
    ++result_.n_forced;
    compare_row(i);
    note_drift(i, result_.max_drift_forced);
    agreement.add(top_agreement(reference_at(i), candidate_at(i)));
  }
  result_.n_compared += result_.n_forced;
  result_.top_agreement_after = agreement.result();
}

void PairComparer::count_what_is_left() {
  const int32_t longest = std::max(result_.reference_length, result_.candidate_length);
  result_.n_not_compared = longest - result_.n_compared;
}

}  // namespace

const char* name(Side side) {
  return side == Side::kReference ? "reference" : "candidate";
}

const char* name(NumericEvidence evidence) {
  switch (evidence) {
    case NumericEvidence::kNone:
      return "none";
    case NumericEvidence::kLogprobs:
      return "logprobs";
    case NumericEvidence::kLogitsHash:
      return "logits_hash";
  }
  return "unknown";
}

const char* name(GapKind kind) {
  switch (kind) {
    case GapKind::kError:
      return "error";
    case GapKind::kCancelled:
      return "cancelled";
    case GapKind::kTruncated:
      return "truncated";
    case GapKind::kNonFinite:
      return "non_finite";
    case GapKind::kHashMissing:
      return "hash_missing";
    case GapKind::kLogprobMissing:
      return "logprob_missing";
    case GapKind::kTopMissing:
      return "top_missing";
  }
  return "unknown";
}

bool Divergence::has_gap(GapKind kind) const {
  return std::any_of(gaps.begin(), gaps.end(),
                     [kind](const EvidenceGap& gap) { return gap.kind == kind; });
}

Divergence compare_samples(const Trace& reference, const Trace& candidate,
                           const SampleComparisonOptions& options) {
  ISOBIT_REQUIRE(!options.first_n || *options.first_n >= 0);
  const Answer a = answer_of(reference, Side::kReference, options);
  const Answer b = answer_of(candidate, Side::kCandidate, options);
  return PairComparer(a, b, options).run();
}

SampleComparisonOptions comparison_options(const Request& request) {
  return {.first_n = std::nullopt,
          .expected_tokens = request.max_tokens,
          .n_forced = static_cast<int32_t>(request.forced_token_ids.size())};
}

}  // namespace isobit

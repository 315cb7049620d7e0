// Where two answers to one request part, and how far they had drifted before. A divergence is a
// value, never an error.
//
// Two comparisons run side by side over the positions. The token comparison ends at the first token
// that differs. The numeric one looks at what the target recorded about each position's logits row:
// the 16-byte hash of the row, else the chosen token's logprob, and the list of top logprobs. Both
// rows have the same context only up to and including the first position whose tokens differ; what
// follows is counted as not compared, unless teacher forcing holds the context in place: by the
// request's own forced tokens, or by a second pass of the candidate over the reference's answer.
//
// What can flip a token is a row's *gap drift*: the most by which any two tokens moved relative to
// each other. The logprobs of both sides show it for the tokens that both top lists name, and show
// nothing else of the logits: a logprob is a logit minus the row's log-sum-exp, so a logprob may
// drift while the logits' differences stay, and a shift of the whole row is invisible (and no
// argmax sees it).
//
// Evidence that is missing is reported as such (`gaps`) and is never a match.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "record/request.h"
#include "record/trace.h"

namespace isobit {

enum class Side { kReference, kCandidate };
const char* name(Side side);

// What the numeric comparison had to go on.
enum class NumericEvidence { kNone, kLogprobs, kLogitsHash };
const char* name(NumericEvidence evidence);

enum class GapKind {
  kError,           // the target failed on this request
  kCancelled,       // stopped from outside
  kTruncated,       // fewer positions than the finish reason explains
  kNonFinite,       // a logits row held a NaN or an infinity
  kHashMissing,     // no logits hash where the other side, or another position, has one
  kLogprobMissing,  // no logprobs where the other side has them
  kTopMissing,      // a shorter list of top logprobs than the other side's
};
const char* name(GapKind kind);

struct EvidenceGap {
  GapKind kind = GapKind::kError;
  Side side = Side::kReference;
  std::optional<int32_t> position = {};  // the first one concerned, where it is known
};

struct NumericDivergence {
  int32_t position = 0;
  bool logits_hash_differs = false;
  bool logprob_differs = false;
  bool top_differs = false;  // token ids or logprob bits of the top list
  // Logprobs of the reference's token on both sides. Absent where not recorded; the candidate's
  // comes from its top list where it chose another token.
  int32_t token_id = 0;
  std::optional<float> reference_logprob = {};
  std::optional<float> candidate_logprob = {};
  std::optional<uint32_t> ulp = {};
  std::optional<double> nats = {};
  std::optional<float> reference_margin = {};  // as below
  std::optional<float> candidate_margin = {};
};

struct TokenDivergence {
  int32_t position = 0;
  std::optional<int32_t> reference_token = {};  // absent: this side had ended
  std::optional<int32_t> candidate_token = {};
  std::optional<float> reference_margin =
      {};  // top-1 minus top-2, nats; from the top list where the target gives no margin
  std::optional<float> candidate_margin = {};
  std::optional<int32_t> candidate_token_rank_in_reference =
      {};  // 1 = first of the reference's top list; absent: not in it
  std::optional<int32_t> reference_token_rank_in_candidate = {};
  std::optional<bool> same_row =
      {};  // the logits were the same bits, so the sampler differed; absent: not known
  std::optional<double> top_agreement = {};  // share of top-list tokens in common here
  // Percentage, 0 to 100, of the margins of the run's reference answers that are no larger. Set by
  // the comparison of runs, which knows them.
  std::optional<double> reference_margin_percentile = {};
  std::optional<double> candidate_margin_percentile = {};
};

// The largest difference of the reference's token's logprob over some positions.
struct Drift {
  double nats = 0;
  int32_t nats_position = 0;
  uint32_t ulp = 0;
  int32_t ulp_position = 0;
};

// The largest gap drift of the compared rows.
struct GapDrift {
  double nats = 0;  // infinite: a row moved, by more than its lists can show
  int32_t position = 0;
};

// One compared row, for laws that are fitted over many. `flipped`: the most likely token differs,
// whatever was chosen.
struct RowObservation {
  int32_t prompt_index = 0;
  float margin = 0;     // the reference's
  float gap_drift = 0;  // nats
  bool flipped = false;
};

struct Divergence {
  NumericEvidence evidence = NumericEvidence::kNone;
  std::vector<EvidenceGap> gaps;                  // the first of each kind and side
  std::optional<NumericDivergence> numeric = {};  // the first
  std::optional<TokenDivergence> token = {};      // the first
  bool finish_differs = false;
  FinishReason reference_finish = FinishReason::kLength;
  FinishReason candidate_finish = FinishReason::kLength;
  int32_t reference_length = 0;  // positions, after `first_n`
  int32_t candidate_length = 0;
  int32_t n_compared = 0;             // positions whose rows were comparable
  int32_t n_not_compared = 0;         // positions of the longer side after that
  int32_t n_numeric_differences = 0;  // of n_compared
  int32_t n_argmax_flips = 0;  // of n_compared: the most likely token differs, whatever was chosen
  std::optional<int32_t> first_argmax_flip = {};
  int32_t n_forced = 0;  // of n_compared: past the first token divergence, by teacher forcing
  std::optional<Drift> max_drift = {};         // before the first token divergence; absent without
                                               // logprobs on both sides
  std::optional<Drift> max_drift_forced = {};  // the same over the forced positions
  std::optional<GapDrift> max_gap_drift = {};  // absent: no row showed two tokens on both sides
  // Means over the compared positions before the first token divergence, and over the forced ones
  // after it.
  std::optional<double> top_agreement_before = {};
  std::optional<double> top_agreement_after = {};
  bool has_gap(GapKind kind) const;
};

struct SampleComparisonOptions {
  std::optional<int32_t> first_n =
      {};  // compare only the first n positions; how the answers end after them does not matter
  std::optional<int32_t> expected_tokens =
      {};  // a finish reason `length` explains this many positions, not fewer
  int32_t n_forced =
      0;  // teacher-forced positions: the context is the same on both sides up to here
  // What the candidate computes when it is given the reference's tokens; used past the first token
  // divergence. Rows over any other answer are left out.
  std::span<const TracePosition> forced = {};
  std::vector<RowObservation>* rows = nullptr;  // where given, compared rows are added
};

// REQUIRES: both traces answer the same request.
Divergence compare_samples(const Trace& reference, const Trace& candidate,
                           const SampleComparisonOptions& options = {});

// The options that follow from the request itself.
SampleComparisonOptions comparison_options(const Request& request);

}  // namespace isobit

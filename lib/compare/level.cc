#include "compare/level.h"

#include <algorithm>

namespace isobit {
namespace {

bool answer_is_incomplete(const Divergence& d) {
  return d.has_gap(GapKind::kError) || d.has_gap(GapKind::kCancelled) ||
         d.has_gap(GapKind::kTruncated) || d.has_gap(GapKind::kNonFinite);
}

// A hash is the whole row, so it needs neither logprobs nor top lists beside it.
bool bits_are_missing(const Divergence& d) {
  if (d.evidence == NumericEvidence::kNone || d.has_gap(GapKind::kHashMissing)) return true;
  if (d.evidence == NumericEvidence::kLogitsHash) return false;
  return d.has_gap(GapKind::kLogprobMissing) || d.has_gap(GapKind::kTopMissing);
}

}  // namespace

std::optional<Level> level_from_number(int number) {
  if (number == 0) return Level::kStatistical;
  if (number == 1) return Level::kRequestReproducible;
  if (number == 2) return Level::kBitwise;
  return std::nullopt;
}

int number(Level level) {
  return static_cast<int>(level);
}

const char* name(Sameness sameness) {
  switch (sameness) {
    case Sameness::kSame:
      return "same";
    case Sameness::kDifferent:
      return "different";
    case Sameness::kMissing:
      return "missing";
    case Sameness::kUnsupported:
      return "unsupported";
  }
  return "unknown";
}

Sameness sameness_at(Level level, const Divergence& divergence) {
  const bool incomplete = answer_is_incomplete(divergence);
  if (divergence.token) return Sameness::kDifferent;
  if (level == Level::kBitwise && divergence.numeric) return Sameness::kDifferent;
  if (incomplete)
    return Sameness::kMissing;  // before the finish reason: an error differs from every finish
                                // reason
  if (divergence.finish_differs) return Sameness::kDifferent;
  if (level == Level::kBitwise && bits_are_missing(divergence)) return Sameness::kUnsupported;
  return Sameness::kSame;
}

const char* name(FlipKind kind) {
  switch (kind) {
    case FlipKind::kTie:
      return "tie";
    case FlipKind::kDrift:
      return "drift";
    case FlipKind::kSuspicious:
      return "suspicious";
    case FlipKind::kSampling:
      return "sampling";
    case FlipKind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

bool margin_decides(const Sampling& s) {
  return s.temperature == 0 && s.repetition_penalty == 1 && s.frequency_penalty == 0 &&
         s.presence_penalty == 0 && s.logit_bias.empty();
}

std::optional<FlipKind> classify_flip(const Divergence& divergence, const Sampling& sampling,
                                      const FlipThresholds& thresholds) {
  if (!divergence.token) return std::nullopt;
  const TokenDivergence& flip = *divergence.token;
  if (!flip.reference_token || !flip.candidate_token) return FlipKind::kUnknown;
  if (flip.same_row.value_or(false)) return FlipKind::kSampling;
  if (!margin_decides(sampling)) return FlipKind::kDrift;
  if (!flip.reference_margin && !flip.candidate_margin) return FlipKind::kUnknown;
  const double margin =
      std::max(flip.reference_margin.value_or(0), flip.candidate_margin.value_or(0));
  if (margin > thresholds.suspicious_nats) return FlipKind::kSuspicious;
  return margin <= thresholds.tie_nats ? FlipKind::kTie : FlipKind::kDrift;
}

}  // namespace isobit

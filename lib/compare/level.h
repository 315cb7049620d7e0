// What "the same answer" means at each level, and how a flipped token is judged.
#pragma once

#include <optional>

#include "compare/divergence.h"
#include "record/request.h"

namespace isobit {

enum class Level {
  kStatistical = 0,          // tokens as at level 1; how many may differ is for a policy to say
  kRequestReproducible = 1,  // same tokens, same finish reason
  kBitwise =
      2,  // also every position's logits hash or, where the target has none, every recorded logprob
};
std::optional<Level> level_from_number(int number);
int number(Level level);

enum class Sameness {
  kSame,
  kDifferent,
  kMissing,      // no difference seen, but an answer is incomplete: an error, a truncation, a NaN
  kUnsupported,  // tokens agree, but the bits that the level asks about were not recorded on both
                 // sides
};
const char* name(Sameness sameness);

// A difference that was seen counts whatever else is missing; then missing, then unsupported; only
// then same.
Sameness sameness_at(Level level, const Divergence& divergence);

enum class FlipKind {
  kTie,         // both margins within `tie_nats`: the model itself hardly chose
  kDrift,       // the rows differ and the margin was small enough for that to matter
  kSuspicious,  // a margin above `suspicious_nats`: rounding does not move logits that far
  kSampling,    // the same row, or one that could not be told apart, and yet another token: the
                // sampler differed
  kUnknown,     // no margin recorded, or one side had already ended
};
const char* name(FlipKind kind);

struct FlipThresholds {
  double tie_nats = 1e-4;  // raised to twice the noise measured between repeats, where there is any
  double suspicious_nats = 1.0;
};

// The token is the argmax of the raw row, which is what the margin is measured on.
bool margin_decides(const Sampling& sampling);

// Absent when no token differs. Margins say nothing about a sampled or penalised choice: such flips
// are drift or sampling.
std::optional<FlipKind> classify_flip(const Divergence& divergence, const Sampling& sampling,
                                      const FlipThresholds& thresholds);

}  // namespace isobit

// How likely a token is to flip, given how narrow the choice was and how far its row drifted.
//
// One observation per compared row: the reference's margin m, the row's gap drift d (the most by
// which two listed tokens moved relative to each other; compare/divergence.h), and whether the most
// likely token changed. The law is
//
//   P(flip | m, d) = 1/2 / (1 + (m / (c d))^k),    that is    1/2 logistic(b0 + b1 log(m / d))
//
// with b1 = -k and c = exp(b0 / k). Why this form and not a logistic in log m and log d:
//   - Where drift has no preferred direction, nothing but the ratio m/d can matter: the same drift
//     in other units is the same question. One slope, so half as many flips suffice.
//   - A drift is as likely to widen a gap as to close it, so that the narrowest choice flips half
//   of
//     the time, never always: the factor 1/2. A plain logistic goes to 1 there and pays for it with
//     a slope that is too flat. (Three tokens within a hair of each other can exceed 1/2.)
//   - At d = 0 nothing can flip and at m = 0 half does, whatever the parameters: such rows say
//     nothing about c and k. They are counted beside the fit and left out of it.
// c is the ratio m/d at which the chance is half of its ceiling; k says how sharply it falls.
//
// Fitted by Fisher scoring on the likelihood with Jeffreys' prior as penalty (Firth 1993; for links
// like this one Kosmidis and Firth 2021, Biometrika 108): the estimate stays finite when the flips
// and the other rows separate completely. Rows of one prompt are not independent, so intervals come
// from the sandwich estimate clustered by prompt (Liang and Zeger 1986) with the factor G/(G-1),
// and a t distribution with as many degrees of freedom as prompts that flipped, less one; Wald, 95
// %. Goodness of fit is Hosmer and Lemeshow's, with groups of ascending chance that each expect at
// least kFlipsPerGroup flips instead of deciles, which would expect none. It takes rows as
// independent, so within-prompt dependence makes its p-value too small, never too large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/divergence.h"
#include "compare/statistics.h"

namespace isobit {

struct Estimate95 {
  double value = 0;
  Interval interval95;
};

struct GoodnessOfFit {
  double chi_squared = 0;
  int degrees_of_freedom = 0;
  double p_value = 1;
};

struct FlipLaw {
  Estimate95 intercept;                   // b0
  Estimate95 slope;                       // b1, per log(m/d)
  Estimate95 ratio_1_percent;             // m/d at which P = 1 %
  Estimate95 ratio_25_percent;            // m/d at which P = 25 %, half of the ceiling
  std::optional<GoodnessOfFit> fit = {};  // absent: too few expected flips for three groups
  double median_drift_nats = 0;           // of the rows fitted
  double max_drift_nats = 0;

  // A chance between 0 and 1/2. REQUIRES: margin >= 0, drift > 0.
  double chance(double margin_nats, double drift_nats) const;
};

// What the fit rests on, or why there is none. What was observed is never extrapolated into a
// guess.
struct FlipLawResult {
  int64_t n_rows = 0;           // fitted: margin and drift above 0
  int64_t n_flips = 0;          // among them
  int64_t n_without_drift = 0;  // rows that did not move: they cannot flip
  int64_t n_ties = 0;           // reference margins of exactly 0 whose row moved
  int64_t n_tie_flips = 0;
  int64_t n_prompts = 0;
  int64_t n_prompts_with_flips = 0;
  std::optional<FlipLaw> law = {};
  std::string refusal;  // why there is no law: "too few flips: 3, a fit needs 10"
};

inline constexpr int64_t kMinFlips = 10;
inline constexpr int64_t kMinPromptsWithFlips = 5;
inline constexpr double kFlipsPerGroup = 5;

FlipLawResult fit_flip_law(const std::vector<RowObservation>& rows);

// P(X >= x) of a chi-squared variable. REQUIRES: degrees_of_freedom >= 1, x >= 0.
double chi_squared_tail(double x, int degrees_of_freedom);
// The two-sided 95 % point of Student's t: Hill's expansion in 1/n (1970) where n > 4, exact values
// below. REQUIRES: degrees_of_freedom >= 1.
double student_t95(int64_t degrees_of_freedom);

}  // namespace isobit

#include "compare/flip_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace isobit {
namespace {

constexpr double kCeiling = 0.5;
constexpr int kMaxIterations = 200;
constexpr double kConverged = 1e-9;

struct Row {
  int32_t prompt_index = 0;
  double x = 0;  // log(m / d)
  bool flipped = false;
};

struct Vector2 {
  double a = 0;
  double b = 0;
  void add(double scale, double x) {
    a += scale;
    b += scale * x;
  }
};

// Symmetric.
struct Matrix2 {
  double aa = 0;
  double ab = 0;
  double bb = 0;
  void add(double weight, double x) {
    aa += weight;
    ab += weight * x;
    bb += weight * x * x;
  }
  double determinant() const { return aa * bb - ab * ab; }
  Matrix2 inverse() const {
    const double d = determinant();
    return {.aa = bb / d, .ab = -ab / d, .bb = aa / d};
  }
  Vector2 times(const Vector2& v) const { return {aa * v.a + ab * v.b, ab * v.a + bb * v.b}; }
  double quadratic(double x) const { return aa + 2 * ab * x + bb * x * x; }
};

Matrix2 sandwich(const Matrix2& bread, const Matrix2& meat) {
  const Vector2 first = meat.times({bread.aa, bread.ab});
  const Vector2 second = meat.times({bread.ab, bread.bb});
  return {.aa = bread.aa * first.a + bread.ab * first.b,
          .ab = bread.aa * second.a + bread.ab * second.b,
          .bb = bread.ab * second.a + bread.bb * second.b};
}

// What one row's linear predictor makes of the law.
struct Point {
  double s = 0;  // logistic(eta)
  double p = 0;  // the chance
  explicit Point(double eta)
      : s(eta >= 0 ? 1 / (1 + std::exp(-eta)) : std::exp(eta) / (1 + std::exp(eta))),
        p(kCeiling * s) {}
  double weight() const { return p * (1 - s) * (1 - s) / (1 - p); }  // Fisher information
  double score(bool flipped) const { return ((flipped ? 1 : 0) - p) * (1 - s) / (1 - p); }
  // Of log weight() by eta: what Jeffreys' prior adds to the score, per leverage.
  double log_weight_slope() const { return (1 - s) - 2 * s + p * (1 - s) / (1 - p); }
};

double log_chance(double eta) {  // log(1/2 logistic(eta)) without underflow
  return std::log(kCeiling) -
         (eta >= 0 ? std::log1p(std::exp(-eta)) : -eta + std::log1p(std::exp(eta)));
}

class Fit {
 public:
  explicit Fit(const std::vector<Row>& rows) : rows_(rows) {}

  // False: the climb did not settle.
  bool climb() {
    double height = penalised_likelihood(beta_);
    for (int i = 0; i < kMaxIterations; ++i) {
      const Vector2 step = information(beta_).inverse().times(penalised_score(beta_));
      double scale = 1;
      Vector2 next = moved(step, scale);
      double next_height = penalised_likelihood(next);
      while (!(next_height >= height) && scale > 1e-6) {
        scale /= 2;
        next = moved(step, scale);
        next_height = penalised_likelihood(next);
      }
      if (!(next_height >= height)) return std::fabs(step.a) + std::fabs(step.b) < 1e-4;
      beta_ = next;
      height = next_height;
      if (scale * (std::fabs(step.a) + std::fabs(step.b)) < kConverged) return true;
    }
    return false;
  }

  const Vector2& beta() const { return beta_; }
  double eta(double x) const { return beta_.a + beta_.b * x; }

  // REQUIRES: rows sorted by prompt.
  Matrix2 clustered_variance() const {
    Matrix2 meat;
    double n_clusters = 0;
    for (size_t i = 0; i < rows_.size();) {
      Vector2 sum;
      const int32_t prompt = rows_[i].prompt_index;
      for (; i < rows_.size() && rows_[i].prompt_index == prompt; ++i)
        sum.add(Point(eta(rows_[i].x)).score(rows_[i].flipped), rows_[i].x);
      meat.aa += sum.a * sum.a;
      meat.ab += sum.a * sum.b;
      meat.bb += sum.b * sum.b;
      ++n_clusters;
    }
    const double correction = n_clusters / (n_clusters - 1);
    const Matrix2 raw = sandwich(information(beta_).inverse(), meat);
    return {.aa = raw.aa * correction, .ab = raw.ab * correction, .bb = raw.bb * correction};
  }

 private:
  Vector2 moved(const Vector2& step, double scale) const {
    return {beta_.a + scale * step.a, beta_.b + scale * step.b};
  }

  Matrix2 information(const Vector2& beta) const {
    Matrix2 sum;
    for (const Row& row : rows_) sum.add(Point(beta.a + beta.b * row.x).weight(), row.x);
    return sum;
  }

  double penalised_likelihood(const Vector2& beta) const {
    double sum = 0;
    for (const Row& row : rows_) {
      const double eta = beta.a + beta.b * row.x;
      sum += row.flipped ? log_chance(eta) : std::log1p(-Point(eta).p);
    }
    return sum + 0.5 * std::log(information(beta).determinant());
  }

  Vector2 penalised_score(const Vector2& beta) const {
    const Matrix2 inverse = information(beta).inverse();
    Vector2 sum;
    for (const Row& row : rows_) {
      const Point point(beta.a + beta.b * row.x);
      const double leverage = point.weight() * inverse.quadratic(row.x);
      sum.add(point.score(row.flipped) + 0.5 * leverage * point.log_weight_slope(), row.x);
    }
    return sum;
  }

  const std::vector<Row>& rows_;
  Vector2 beta_ = {0, -1};  // flips where the margin is below the drift
};

Estimate95 estimate(double value, double variance, double t) {
  const double half = t * std::sqrt(std::max(0.0, variance));
  return {.value = value, .interval95 = {.low = value - half, .high = value + half}};
}

// The ratio m/d at which the chance is `p`, by the delta method on its logarithm.
Estimate95 ratio_at(double p, const Vector2& beta, const Matrix2& variance, double t) {
  const double logit = std::log(p / kCeiling) - std::log1p(-p / kCeiling);
  const double x = (logit - beta.a) / beta.b;
  const double by_a = -1 / beta.b;
  const double by_b = -x / beta.b;
  const double of_x =
      by_a * by_a * variance.aa + 2 * by_a * by_b * variance.ab + by_b * by_b * variance.bb;
  const Estimate95 log_ratio = estimate(x, of_x, t);
  return {.value = std::exp(x),
          .interval95 = {.low = std::exp(log_ratio.interval95.low),
                         .high = std::exp(log_ratio.interval95.high)}};
}

std::optional<GoodnessOfFit> hosmer_lemeshow(const std::vector<Row>& rows, const Fit& fit) {
  std::vector<std::pair<double, bool>> by_chance;
  by_chance.reserve(rows.size());
  double expected_in_all = 0;
  for (const Row& row : rows) {
    by_chance.emplace_back(Point(fit.eta(row.x)).p, row.flipped);
    expected_in_all += by_chance.back().first;
  }
  std::sort(by_chance.begin(), by_chance.end());
  const int n_groups = static_cast<int>(std::min(10.0, expected_in_all / kFlipsPerGroup));
  if (n_groups < 3) return std::nullopt;
  GoodnessOfFit found{.degrees_of_freedom = n_groups - 2};
  double expected = 0, observed = 0, n = 0, expected_so_far = 0;
  int group = 1;
  for (size_t i = 0; i < by_chance.size(); ++i) {
    expected += by_chance[i].first;
    observed += by_chance[i].second ? 1 : 0;
    ++n;
    const bool last = i + 1 == by_chance.size();
    if (!last &&
        (group == n_groups || expected_so_far + expected < expected_in_all * group / n_groups))
      continue;
    const double miss = observed - expected;
    found.chi_squared += miss * miss / (expected * (1 - expected / n));
    expected_so_far += expected;
    expected = observed = n = 0;
    ++group;
  }
  found.p_value = chi_squared_tail(found.chi_squared, found.degrees_of_freedom);
  return found;
}

// Sorts the observations into what is fitted and what is only counted.
std::vector<Row> rows_to_fit(const std::vector<RowObservation>& observations, FlipLawResult& result,
                             std::vector<float>& drifts) {
  std::vector<Row> rows;
  for (const RowObservation& o : observations) {
    if (!std::isfinite(o.margin) || o.margin < 0 || !std::isfinite(o.gap_drift)) continue;
    if (o.gap_drift == 0) {
      ++result.n_without_drift;
    } else if (o.margin == 0) {
      ++result.n_ties;
      result.n_tie_flips += o.flipped ? 1 : 0;
    } else {
      rows.push_back({.prompt_index = o.prompt_index,
                      .x = std::log(static_cast<double>(o.margin)) -
                           std::log(static_cast<double>(o.gap_drift)),
                      .flipped = o.flipped});
      drifts.push_back(o.gap_drift);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.prompt_index < b.prompt_index; });
  return rows;
}

void count_rows(const std::vector<Row>& rows, FlipLawResult& result) {
  result.n_rows = static_cast<int64_t>(rows.size());
  for (size_t i = 0; i < rows.size();) {
    const int32_t prompt = rows[i].prompt_index;
    int64_t flips = 0;
    for (; i < rows.size() && rows[i].prompt_index == prompt; ++i) flips += rows[i].flipped;
    ++result.n_prompts;
    result.n_flips += flips;
    result.n_prompts_with_flips += flips > 0 ? 1 : 0;
  }
}

bool flips_are_narrower(const std::vector<Row>& rows) {
  double flipped = 0, stayed = 0;
  double n_flipped = 0, n_stayed = 0;
  for (const Row& row : rows) {
    (row.flipped ? flipped : stayed) += row.x;
    (row.flipped ? n_flipped : n_stayed) += 1;
  }
  return flipped / n_flipped < stayed / n_stayed;
}

std::string why_not(const FlipLawResult& r, const std::vector<Row>& rows) {
  if (r.n_rows == 0 && r.n_without_drift == 0 && r.n_ties == 0)
    return "no compared row has a margin and two tokens' logprobs on both sides";
  if (r.n_rows == 0) return "no row drifted";
  if (r.n_flips < kMinFlips)
    return fmt::format("too few flips: {}, a fit needs {}", r.n_flips, kMinFlips);
  if (r.n_prompts_with_flips < kMinPromptsWithFlips)
    return fmt::format("the flips come from {} prompts, a fit needs {}", r.n_prompts_with_flips,
                       kMinPromptsWithFlips);
  if (r.n_flips == r.n_rows) return "every row flipped: there is nothing to tell them from";
  if (!flips_are_narrower(rows))
    return "flips do not grow rarer with the margin: rounding does not explain them";
  return {};
}

FlipLaw law_of(const std::vector<Row>& rows, const Fit& fit, int64_t n_prompts_with_flips) {
  const double t = student_t95(n_prompts_with_flips - 1);
  const Matrix2 variance = fit.clustered_variance();
  return {.intercept = estimate(fit.beta().a, variance.aa, t),
          .slope = estimate(fit.beta().b, variance.bb, t),
          .ratio_1_percent = ratio_at(0.01, fit.beta(), variance, t),
          .ratio_25_percent = ratio_at(0.25, fit.beta(), variance, t),
          .fit = hosmer_lemeshow(rows, fit)};
}

}  // namespace

double FlipLaw::chance(double margin_nats, double drift_nats) const {
  ISOBIT_REQUIRE(margin_nats >= 0 && drift_nats > 0);
  if (margin_nats == 0) return kCeiling;
  return Point(intercept.value + slope.value * std::log(margin_nats / drift_nats)).p;
}

FlipLawResult fit_flip_law(const std::vector<RowObservation>& observations) {
  FlipLawResult result;
  std::vector<float> drifts;
  const std::vector<Row> rows = rows_to_fit(observations, result, drifts);
  count_rows(rows, result);
  result.refusal = why_not(result, rows);
  if (!result.refusal.empty()) return result;
  Fit fit(rows);
  if (!fit.climb() || fit.beta().b >= 0) {
    result.refusal = "the fit did not settle";
    return result;
  }
  result.law = law_of(rows, fit, result.n_prompts_with_flips);
  const auto middle = drifts.begin() + static_cast<std::ptrdiff_t>(drifts.size() / 2);
  std::nth_element(drifts.begin(), middle, drifts.end());
  result.law->median_drift_nats = *middle;
  result.law->max_drift_nats = *std::max_element(drifts.begin(), drifts.end());
  return result;
}

double chi_squared_tail(double x, int degrees_of_freedom) {
  ISOBIT_REQUIRE(degrees_of_freedom >= 1 && x >= 0);
  const double half = x / 2;
  const bool odd = degrees_of_freedom % 2 == 1;
  // Q(a + 1, y) = Q(a, y) + y^a e^-y / Gamma(a + 1), from Q(1/2, y) = erfc(sqrt y) or Q(1, y) =
  // e^-y.
  double tail = odd ? std::erfc(std::sqrt(half)) : std::exp(-half);
  double term =
      odd ? 2 * std::sqrt(half / std::numbers::pi) * std::exp(-half) : half * std::exp(-half);
  for (double a = odd ? 0.5 : 1; a < degrees_of_freedom / 2.0 - 0.25; ++a) {
    tail += term;
    term *= half / (a + 1);
  }
  return std::min(1.0, tail);
}

double student_t95(int64_t degrees_of_freedom) {
  ISOBIT_REQUIRE(degrees_of_freedom >= 1);
  constexpr std::array<double, 4> kExact = {12.706204736, 4.302652730, 3.182446305, 2.776445105};
  if (degrees_of_freedom <= 4) return kExact[static_cast<size_t>(degrees_of_freedom) - 1];
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(degrees_of_freedom);
  const double z2 = z * z;
  return z + z * (z2 + 1) / (4 * n) + z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * n * n) +
         z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * n * n * n);
}

}  // namespace isobit

// The law is fitted to rows drawn from known parameters, and must find them again.
#include "compare/flip_law.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace isobit;

namespace {

constexpr uint64_t kSeed = 20261130;

struct Truth {
  double intercept = 0;
  double slope = -2;
};

double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

double normal(std::mt19937_64& random) {
  return std::sqrt(-2 * std::log(1 - uniform(random))) * std::cos(2 * M_PI * uniform(random));
}

// Margins are exponential with mean 1 nat; drifts lie around 0.01 nat, a factor e either way.
std::vector<RowObservation> simulate(std::mt19937_64& random, const Truth& truth, int n_prompts,
                                     int n_rows) {
  std::vector<RowObservation> rows;
  for (int prompt = 0; prompt < n_prompts; ++prompt) {
    for (int i = 0; i < n_rows; ++i) {
      RowObservation row{.prompt_index = prompt};
      row.margin = static_cast<float>(-std::log(1 - uniform(random)) + 1e-6);
      row.gap_drift = static_cast<float>(0.01 * std::exp(normal(random)));
      const double eta =
          truth.intercept + truth.slope * std::log(static_cast<double>(row.margin) / row.gap_drift);
      row.flipped = uniform(random) < 0.5 / (1 + std::exp(-eta));
      rows.push_back(row);
    }
  }
  return rows;
}

bool covers(const Estimate95& estimate, double truth) {
  return estimate.interval95.low <= truth && truth <= estimate.interval95.high;
}

RowObservation row(int32_t prompt, float margin, float drift, bool flipped) {
  return {.prompt_index = prompt, .margin = margin, .gap_drift = drift, .flipped = flipped};
}

}  // namespace

TEST_CASE("the fitted law finds the parameters that the rows were drawn from") {
  std::mt19937_64 random(kSeed);
  const Truth truth{.intercept = 0.5, .slope = -2};
  const FlipLawResult found = fit_flip_law(simulate(random, truth, 200, 500));
  INFO("seed " << kSeed << ", " << found.n_flips << " flips");
  REQUIRE(found.law);
  CHECK(found.law->slope.value == doctest::Approx(-2).epsilon(0.1));
  CHECK(found.law->intercept.value == doctest::Approx(0.5).epsilon(0.4));
  REQUIRE(found.law->fit);
  CHECK(found.law->fit->p_value > 0.01);
}

TEST_CASE("over many simulations the intervals cover the truth about 95 times in 100") {
  const Truth truth{.intercept = 0.5, .slope = -2};
  const double ratio_1_percent = std::exp((std::log(0.02 / 0.98) - truth.intercept) / truth.slope);
  std::mt19937_64 random(kSeed);
  constexpr int kSimulations = 200;
  int fitted = 0, intercept = 0, slope = 0, ratio = 0;
  for (int i = 0; i < kSimulations; ++i) {
    const FlipLawResult found = fit_flip_law(simulate(random, truth, 64, 64));
    if (!found.law) continue;
    ++fitted;
    intercept += covers(found.law->intercept, truth.intercept);
    slope += covers(found.law->slope, truth.slope);
    ratio += covers(found.law->ratio_1_percent, ratio_1_percent);
  }
  MESSAGE("seed " << kSeed << ": of " << fitted << " fits the interval of the intercept covers "
                  << intercept << ", of the slope " << slope << ", of the margin at 1 % " << ratio);
  CHECK(fitted > kSimulations * 9 / 10);
  CHECK(intercept >= fitted * 90 / 100);
  CHECK(slope >= fitted * 90 / 100);
  CHECK(ratio >= fitted * 90 / 100);
}

TEST_CASE("rows that only repeat each other within a prompt do not narrow the intervals") {
  std::mt19937_64 random(kSeed);
  const std::vector<RowObservation> rows = simulate(random, {}, 64, 64);
  std::vector<RowObservation> tenfold;
  for (int i = 0; i < 10; ++i) tenfold.insert(tenfold.end(), rows.begin(), rows.end());
  const FlipLawResult once = fit_flip_law(rows);
  const FlipLawResult often = fit_flip_law(tenfold);
  REQUIRE(once.law);
  REQUIRE(often.law);
  const auto width = [](const Estimate95& e) { return e.interval95.high - e.interval95.low; };
  CHECK(width(often.law->slope) == doctest::Approx(width(once.law->slope)).epsilon(0.1));
  CHECK(often.n_flips == 10 * once.n_flips);
}

TEST_CASE("rows that separate completely still give finite estimates") {
  std::vector<RowObservation> rows;
  for (int32_t prompt = 0; prompt < 12; ++prompt) {
    rows.push_back(row(prompt, 0.001f, 0.01f, true));
    for (int i = 0; i < 20; ++i) rows.push_back(row(prompt, 0.5f + 0.01f * i, 0.01f, false));
  }
  const FlipLawResult found = fit_flip_law(rows);
  REQUIRE(found.law);
  CHECK(std::isfinite(found.law->slope.value));
  CHECK(found.law->slope.value < 0);
  CHECK(std::isfinite(found.law->slope.interval95.low));
  CHECK(found.law->ratio_1_percent.value > 0.1);
  CHECK(found.law->ratio_1_percent.value < 50);
}

TEST_CASE("a law that is not the logistic one is found out by the goodness of fit") {
  // Flips that do not care about the margin below a ratio of 30 and never happen above.
  std::mt19937_64 random(kSeed);
  std::vector<RowObservation> rows;
  for (int32_t prompt = 0; prompt < 100; ++prompt) {
    for (int i = 0; i < 200; ++i) {
      const double ratio = std::exp(uniform(random) * 8 - 4);
      rows.push_back(row(prompt, static_cast<float>(0.01 * ratio), 0.01f,
                         ratio < 30 && uniform(random) < 0.05));
    }
  }
  const FlipLawResult found = fit_flip_law(rows);
  INFO("seed " << kSeed);
  REQUIRE(found.law);
  REQUIRE(found.law->fit);
  CHECK(found.law->fit->p_value < 0.001);
}

TEST_CASE("what a fit cannot rest on is refused by name") {
  CHECK(fit_flip_law({}).refusal ==
        "no compared row has a margin and two tokens' logprobs on both sides");
  CHECK(fit_flip_law({row(0, 0.5f, 0, false)}).refusal == "no row drifted");
  std::vector<RowObservation> rows;
  for (int32_t i = 0; i < 30; ++i) rows.push_back(row(i, 0.5f, 0.01f, i < 3));
  CHECK(fit_flip_law(rows).refusal == "too few flips: 3, a fit needs 10");
  for (int32_t i = 0; i < 30; ++i) rows.push_back(row(i % 2, 0.001f, 0.01f, i < 12));
  CHECK(fit_flip_law(rows).refusal == "the flips come from 3 prompts, a fit needs 5");
  rows.clear();
  for (int32_t i = 0; i < 30; ++i) rows.push_back(row(i, 0.5f, 0.01f, true));
  CHECK(fit_flip_law(rows).refusal == "every row flipped: there is nothing to tell them from");
  for (int32_t i = 0; i < 300; ++i)
    rows.push_back(row(i, 0.001f * static_cast<float>(1 + i % 7), 0.01f, false));
  CHECK(fit_flip_law(rows).refusal ==
        "flips do not grow rarer with the margin: rounding does not explain them");
}

TEST_CASE("rows that cannot tell the parameters are counted beside the fit") {
  std::mt19937_64 random(kSeed);
  std::vector<RowObservation> rows = simulate(random, {}, 64, 64);
  const FlipLawResult before = fit_flip_law(rows);
  rows.push_back(row(0, 0, 0.01f, true));
  rows.push_back(row(0, 0, 0.01f, false));
  rows.push_back(row(0, 1, 0, false));
  rows.push_back(row(0, std::nanf(""), 0.01f, true));
  const FlipLawResult after = fit_flip_law(rows);
  CHECK(after.n_ties == 2);
  CHECK(after.n_tie_flips == 1);
  CHECK(after.n_without_drift == 1);
  CHECK(after.n_rows == before.n_rows);
  REQUIRE(before.law);
  REQUIRE(after.law);
  CHECK(after.law->slope.value == before.law->slope.value);
}

TEST_CASE("the order of the rows plays no part") {
  std::mt19937_64 random(kSeed);
  std::vector<RowObservation> rows = simulate(random, {}, 40, 60);
  const FlipLawResult before = fit_flip_law(rows);
  std::shuffle(rows.begin(), rows.end(), random);
  const FlipLawResult after = fit_flip_law(rows);
  REQUIRE(before.law);
  CHECK(after.law->slope.value == doctest::Approx(before.law->slope.value).epsilon(1e-6));
  CHECK(after.law->slope.interval95.low ==
        doctest::Approx(before.law->slope.interval95.low).epsilon(1e-5));
}

TEST_CASE("the chance is half at no margin, a quarter at the middle ratio, and falls from there") {
  FlipLaw law;
  law.intercept.value = 0.5;
  law.slope.value = -2;
  CHECK(law.chance(0, 0.01) == 0.5);
  CHECK(law.chance(0.01 * std::exp(0.25), 0.01) == doctest::Approx(0.25));
  CHECK(law.chance(1, 0.01) < law.chance(0.5, 0.01));
}

// Expected values: tables of the chi-squared and Student distributions.
TEST_CASE("tails have their textbook values") {
  CHECK(chi_squared_tail(3.841458821, 1) == doctest::Approx(0.05).epsilon(1e-8));
  CHECK(chi_squared_tail(5.991464547, 2) == doctest::Approx(0.05).epsilon(1e-8));
  CHECK(chi_squared_tail(7.814727903, 3) == doctest::Approx(0.05).epsilon(1e-8));
  CHECK(chi_squared_tail(15.50731306, 8) == doctest::Approx(0.05).epsilon(1e-8));
  CHECK(chi_squared_tail(21.66599433, 9) == doctest::Approx(0.01).epsilon(1e-8));
  CHECK(chi_squared_tail(0, 4) == 1);
  CHECK(student_t95(1) == doctest::Approx(12.7062));
  CHECK(student_t95(5) == doctest::Approx(2.570582).epsilon(2e-3));
  CHECK(student_t95(10) == doctest::Approx(2.228139).epsilon(1e-4));
  CHECK(student_t95(100) == doctest::Approx(1.983972).epsilon(1e-6));
}

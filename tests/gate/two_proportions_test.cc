// Figures by hand, and coverage in simulation with printed seeds.
#include "gate/two_proportions.h"

#include <doctest/doctest.h>

#include <random>

using namespace isobit;

TEST_CASE("Fisher's exact test gives the figures that a hand gives") {
  // R. A. Fisher's tea: 8 cups, 4 and 4. Three right of four: 17/70; all four: 1/70.
  CHECK(fisher_p_value({3, 4}, {1, 4}) == doctest::Approx(17.0 / 70).epsilon(1e-12));
  CHECK(fisher_p_value({4, 4}, {0, 4}) == doctest::Approx(1.0 / 70).epsilon(1e-12));
  // 2 of 3 against 0 of 2: C(3,2) C(2,0) / C(5,2) = 3/10.
  CHECK(fisher_p_value({2, 3}, {0, 2}) == doctest::Approx(0.3).epsilon(1e-12));
}

TEST_CASE("Fisher's exact test at its edges") {
  CHECK(fisher_p_value({0, 64}, {0, 64}) == 1);
  CHECK(fisher_p_value({0, 64}, {64, 64}) == 1);
  CHECK(fisher_p_value({64, 64}, {64, 64}) == doctest::Approx(1));
  CHECK(fisher_p_value({5, 5}, {0, 0}) == 1);
  CHECK(fisher_p_value({0, 0}, {3, 5}) == 1);
  CHECK(fisher_p_value({1, 1}, {0, 1000000}) == doctest::Approx(1.0 / 1000001).epsilon(1e-6));
  CHECK(fisher_p_value({64, 64}, {0, 64}) < 1e-30);
}

TEST_CASE("Newcombe's interval gives the figures of his paper") {
  // Newcombe 1998, Table II, method 10: 56/70 - 48/80, 0 of 10 and 0 of 20, 10 of 10 and 0 of 20.
  const Interval a = newcombe_interval95({56, 70}, {48, 80});
  CHECK(a.low == doctest::Approx(0.0524).epsilon(1e-3));
  CHECK(a.high == doctest::Approx(0.3339).epsilon(1e-3));
  const Interval b = newcombe_interval95({0, 10}, {0, 20});
  CHECK(b.low == doctest::Approx(-0.1611).epsilon(1e-3));
  CHECK(b.high == doctest::Approx(0.2775).epsilon(1e-3));
  const Interval c = newcombe_interval95({10, 10}, {0, 20});
  CHECK(c.low == doctest::Approx(0.6791).epsilon(1e-3));
  CHECK(c.high == doctest::Approx(1));
  CHECK(newcombe_interval95({0, 0}, {1, 2}).low == -1);
}

TEST_CASE("where both sides fail at one rate, the test rejects at most 5 in 100") {
  constexpr uint64_t kSeed = 20260615;
  MESSAGE("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (const double rate : {0.02, 0.1, 0.3, 0.7}) {
    int n_rejected = 0;
    constexpr int kTimes = 4000;
    for (int i = 0; i < kTimes; ++i) {
      std::binomial_distribution<int64_t> draw(64, rate);
      n_rejected += fisher_p_value({draw(random), 64}, {draw(random), 64}) < 0.05 ? 1 : 0;
    }
    CAPTURE(rate);
    CHECK(n_rejected <= 0.06 * kTimes);  // 5 % and three standard errors
  }
}

TEST_CASE("Newcombe's interval covers the difference in about 95 of 100") {
  constexpr uint64_t kSeed = 20260616;
  MESSAGE("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  double sum = 0, least = 1;
  int n = 0;
  for (const double candidate : {0.05, 0.2, 0.5, 0.9}) {
    for (const double noise : {0.02, 0.1, 0.4}) {
      int n_covered = 0;
      constexpr int kTimes = 2000;
      for (int i = 0; i < kTimes; ++i) {
        std::binomial_distribution<int64_t> c(64, candidate), b(48, noise);
        const Interval interval = newcombe_interval95({c(random), 64}, {b(random), 48});
        n_covered += interval.low <= candidate - noise && candidate - noise <= interval.high;
      }
      const double coverage = static_cast<double>(n_covered) / kTimes;
      sum += coverage;
      least = std::min(least, coverage);
      ++n;
    }
  }
  MESSAGE("coverage " << sum / n << " on average, " << least << " at least");
  CHECK(sum / n >= 0.945);
  CHECK(sum / n <= 0.975);
  CHECK(least >= 0.92);
}

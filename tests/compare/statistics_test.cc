#include "compare/statistics.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace isobit;

// Expected bounds: bisection on the exact binomial tail in rational arithmetic (Python's
// fractions), 60 steps.
TEST_CASE("no failures in 64 prompts still allow a failure rate of 4.6 %") {
  CHECK(failure_rate_bound95(0, 64) == doctest::Approx(0.04572970233076246).epsilon(1e-12));
  CHECK(failure_rate_bound95(0, 8) == doctest::Approx(0.3123439780663679).epsilon(1e-12));
}

TEST_CASE("the failure bound holds for any number of failures") {
  CHECK(failure_rate_bound95(1, 64) == doctest::Approx(0.0719897548947094).epsilon(1e-12));
  CHECK(failure_rate_bound95(7, 64) == doctest::Approx(0.19564039960257784).epsilon(1e-12));
  CHECK(failure_rate_bound95(63, 64) == doctest::Approx(0.9991988633566534).epsilon(1e-12));
  CHECK(failure_rate_bound95(3, 10) == doctest::Approx(0.6066242161054134).epsilon(1e-12));
  CHECK(failure_rate_bound95(2, 300) == doctest::Approx(0.020836230527024664).epsilon(1e-12));
}

TEST_CASE("the failure bound stays sharp for many trials and knows nothing from none") {
  CHECK(failure_rate_bound95(0, 1000000) ==
        doctest::Approx(2.9957e-6).epsilon(1e-4));  // the rule of three: -ln(0.05)/n
  CHECK(failure_rate_bound95(0, 0) == 1);
  CHECK(failure_rate_bound95(5, 5) == 1);
}

TEST_CASE("the failure bound rises with failures and falls with trials") {
  for (int k = 0; k < 20; ++k) {
    CHECK(failure_rate_bound95(k, 40) < failure_rate_bound95(k + 1, 40));
    CHECK(failure_rate_bound95(k, 41) < failure_rate_bound95(k, 40));
  }
}

// Expected intervals: Wilson's formula evaluated in Python with z = 1.959963984540054.
TEST_CASE("Wilson's interval has its textbook values and touches 0 and 1") {
  CHECK(wilson_interval95(57, 64).low == doctest::Approx(0.7910135867310387));
  CHECK(wilson_interval95(57, 64).high == doctest::Approx(0.945998866555832));
  CHECK(wilson_interval95(64, 64).low == doctest::Approx(0.9433759402071946));
  CHECK(wilson_interval95(64, 64).high == 1);
  CHECK(wilson_interval95(0, 64).low == 0);
  CHECK(wilson_interval95(0, 64).high == doctest::Approx(0.05662405979280534));
  CHECK(wilson_interval95(5, 10).low == doctest::Approx(0.236593090512564));
  CHECK(wilson_interval95(0, 0).low == 0);
  CHECK(wilson_interval95(0, 0).high == 1);
}

TEST_CASE("Wilson's interval is symmetric in success and failure") {
  for (int k = 0; k <= 30; ++k) {
    CHECK(wilson_interval95(k, 30).low == doctest::Approx(1 - wilson_interval95(30 - k, 30).high));
  }
}

TEST_CASE("impossible counts are refused") {
  CHECK_THROWS_AS(wilson_interval95(3, 2), Error);
  CHECK_THROWS_AS(failure_rate_bound95(-1, 2), Error);
}

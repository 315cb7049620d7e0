// The error meter finds planted faults, leaves correct results alone, and measures what MPFR
// measures.
#include "selftest/elementary_error.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/cpu/reference.h"
#include "selftest/mpfr_oracle.h"

namespace isobit {
namespace {

constexpr int64_t kInputs = 4096;

std::vector<float> results(Elementary function, uint32_t first_input) {
  std::vector<float> x(kInputs), y(kInputs);
  for (int64_t i = 0; i < kInputs; ++i)
    x[static_cast<size_t>(i)] = std::bit_cast<float>(first_input + static_cast<uint32_t>(i));
  reference_kernel_set().elementary(function, x.data(), kInputs, y.data());
  return y;
}

ErrorSummary measure(Elementary function, uint32_t first_input, const std::vector<float>& y) {
  return ErrorMeter(function).measure(first_input, y.data(), static_cast<int64_t>(y.size()));
}

struct Planted {
  Elementary function;
  uint32_t first_input;
  size_t at;
  uint32_t bits;  // instead of the result
  const char* what;
};

TEST_CASE("every kind of wrong result is found where it is, and the right ones are left alone") {
  using E = Elementary;
  const auto plus = [](E f, uint32_t first, size_t at, uint32_t steps) {
    return std::bit_cast<uint32_t>(results(f, first)[at]) + steps;
  };
  const std::vector<Planted> all = {
      {E::kExp, 0x3F800000, 77, plus(E::kExp, 0x3F800000, 77, 2), "two units above"},
      {E::kErf, 0x3F000000, 4095, plus(E::kErf, 0x3F000000, 4095, -2u), "two units below"},
      {E::kTanh, 0x00000100, 3, plus(E::kTanh, 0x00000100, 3, 2), "among the subnormals"},
      {E::kLog, 0x3F7FF800, 2047, plus(E::kLog, 0x3F7FF800, 2047, 2), "just below 1"},
      {E::kExp2, 0x7F800001, 5, 0x7FC00001, "another NaN"},
      {E::kExp2, 0xFFC00000, 0, 0xFFC00000, "a negative NaN"},
      {E::kLog, 0xBF800000, 9, 0xFFC00000, "a negative NaN of a negative number"},
      {E::kExp, 0x7FA00000, 100, 0x3F800000, "a number instead of NaN"},
      {E::kExp, 0x3F800000, 1, 0x7FC00000, "NaN instead of a number"},
      {E::kTanh, 0x80000000, 0, 0x00000000, "zero without its sign"},
      {E::kErf, 0x80000000, 0, 0x00000000, "zero without its sign"},
      {E::kExp, 0xC6000000, 10, 0x80000000, "an underflow to -0"},
      {E::kLog, 0x3F800000, 0, 0x80000000, "log(1) = -0"},
      {E::kLog, 0x00000000, 0, 0x7F800000, "log(0) = +infinity"},
      {E::kLog, 0x00000000, 0, 0xFF7FFFFF, "log(0) finite"},
      {E::kExp, 0x42B17000, 0x218, 0x7F7FFFFF, "an overflow that stays finite"},
      {E::kExp, 0x42B17000, 0x217, 0x7F800000, "infinity too early"},
      {E::kExp2, 0x43000000, 0, 0x7F7FFFFF, "2^128 finite"},
      {E::kExp2, 0x42FFF800, 0x7FF, 0x7F800000, "infinity just below 2^128"},
  };
  for (const Planted& p : all) {
    CAPTURE(name(p.function));
    CAPTURE(p.what);
    std::vector<float> y = results(p.function, p.first_input);
    const ErrorSummary clean = measure(p.function, p.first_input, y);
    CHECK(clean.n_faults == 0);
    CHECK(!clean.first_fault);
    y[p.at] = std::bit_cast<float>(p.bits);
    const ErrorSummary found = measure(p.function, p.first_input, y);
    CHECK(found.n_faults == 1);
    REQUIRE(found.first_fault);
    CHECK(found.first_fault->input == p.first_input + p.at);
    CHECK(found.first_fault->found == p.bits);
  }
}

TEST_CASE("an error of one unit and a little is a fault, one of a little less is not") {
  // Where the true value is near the middle of two numbers, one of four candidates is between one
  // and two units away, and its neighbour less than one.
  const uint32_t first = 0x3F800000;
  const std::vector<float> right = results(Elementary::kExp, first);
  const MpfrOracle oracle;
  int n_above = 0, n_below = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const auto x = std::bit_cast<float>(first + static_cast<uint32_t>(i));
    for (const int step : {-1, 1}) {
      std::vector<float> y = right;
      y[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(y[i]) + static_cast<uint32_t>(step));
      const double error_ulp = oracle.error_ulp(Elementary::kExp, x, y[i]);
      if (std::fabs(error_ulp - 1) > 0.001) continue;
      CAPTURE(error_ulp);
      const bool above = error_ulp > 1;
      ++(above ? n_above : n_below);
      CHECK(measure(Elementary::kExp, first, y).n_faults == (above ? 1 : 0));
    }
  }
  CHECK(n_above > 0);
  CHECK(n_below > 0);
}

TEST_CASE("the largest error is MPFR's over every input, and does not depend on the order") {
  for (const Elementary function : kElementaryFunctions) {
    CAPTURE(name(function));
    const std::vector<uint32_t> firsts = {0x3F400000, 0x3F800000, 0x3E800000, 0x3FC00000};
    const MpfrOracle oracle;
    double largest = 0;
    for (const uint32_t first : firsts) {
      const std::vector<float> y = results(function, first);
      for (uint32_t i = 0; i < kInputs; ++i)
        largest =
            std::max(largest, oracle.error_ulp(function, std::bit_cast<float>(first + i), y[i]));
    }
    for (const bool backward : {false, true}) {
      ErrorMeter meter(function);
      std::vector<ErrorSummary> parts(firsts.size());
      for (size_t i = 0; i < firsts.size(); ++i) {
        const size_t at = backward ? firsts.size() - 1 - i : i;
        parts[at] = meter.measure(firsts[at], results(function, firsts[at]).data(), kInputs);
      }
      ErrorSummary whole;
      for (const ErrorSummary& part : parts) whole.add(part);
      CHECK(whole.largest_ulp == largest);
      CHECK(whole.largest_input.has_value());
    }
  }
}

TEST_CASE("libm in binary64 is as close as the meter takes it to be") {
  constexpr uint32_t kSeed = 20261129;
  INFO("seed ", kSeed);
  std::mt19937 random(kSeed);
  const MpfrOracle oracle;
  // A binary32 result is the nearest to libm's value; its error by MPFR and its distance from
  // libm's value can differ by no more than libm's error.
  for (int i = 0; i < 20'000; ++i) {
    const float x = std::ldexp(
        std::bit_cast<float>(static_cast<uint32_t>((random() & 0x807FFFFFu) | 0x3F800000u)),
        static_cast<int>(random() % 20) - 14);
    const double d = x;
    const double truths[] = {std::exp(d), std::exp2(d), std::log(std::fabs(d)), std::tanh(d),
                             std::erf(d)};
    for (const Elementary function : kElementaryFunctions) {
      const double t = truths[static_cast<size_t>(function)];
      const auto y = static_cast<float>(t);
      if (!std::isfinite(y) || std::fabs(t) < 0x1p-126 || std::fabs(t) == 1) continue;
      int exponent;
      std::frexp(t, &exponent);
      const double by_libm = std::ldexp(std::fabs(static_cast<double>(y) - t), 24 - exponent);
      const float argument = function == Elementary::kLog ? std::fabs(x) : x;
      CHECK(std::fabs(oracle.error_ulp(function, argument, y) - by_libm) < 0x1p-27);
    }
  }
}

}  // namespace
}  // namespace isobit

#include "selftest/elementary_error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "selftest/mpfr_oracle.h"

namespace isobit {
namespace {

constexpr double kLibmError = 0x1p-50;                // relative: 4 ulps of binary64
constexpr double kRoundsToInfinity = 0x1.ffffffp127;  // half-way between the largest f32 and 2^128
constexpr double kSpecial = std::numeric_limits<double>::infinity();
constexpr uint32_t kNan = 0x7FC00000;

using Binary64 = double (*)(double);

Binary64 libm(Elementary function) {
  switch (function) {
    case Elementary::kExp:
      return std::exp;
    case Elementary::kExp2:
      return std::exp2;
    case Elementary::kLog:
      return std::log;
    case Elementary::kTanh:
      return std::tanh;
    case Elementary::kErf:
      return std::erf;
  }
  return nullptr;
}

// 1 / ulp(t). REQUIRES: |t| < 2^128.
double reciprocal_ulp(double t) {
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(t) >> 52 & 0x7FF) - 1023;
  const int ulp_exponent = std::max(exponent - 23, -149);
  return std::bit_cast<double>(static_cast<uint64_t>(1023 - ulp_exponent) << 52);
}

// True where y is what the true value t forces; `special` says whether it forces anything.
bool is_exact_special(float y, double t, bool& special) {
  special = true;
  if (std::isnan(t)) return std::bit_cast<uint32_t>(y) == kNan;
  if (std::fabs(t) >= kRoundsToInfinity) return std::isinf(y) && std::signbit(y) == std::signbit(t);
  special = false;
  if (!std::isfinite(y)) return false;
  return y != 0.0f || std::signbit(y) == std::signbit(t);
}

// What binary64 knows of an error: at most `upper`, at least `lower`.
struct Bounds {
  double lower, upper;
};

Bounds error_bounds(float y, double t) {
  const double slack = std::fabs(t) * kLibmError;
  const double distance = std::fabs(static_cast<double>(y) - t);
  // Just above a power of two the true value may lie below it, where ulps are half as large.
  const double nearest = std::fabs(t) - slack, farthest = std::fabs(t) + slack;
  return {(distance - slack) * reciprocal_ulp(farthest),
          (distance + slack) * reciprocal_ulp(nearest)};
}

}  // namespace

void ErrorSummary::add(const ErrorSummary& later) {
  if (later.largest_input && (!largest_input || later.largest_ulp > largest_ulp)) {
    largest_ulp = later.largest_ulp;
    largest_input = later.largest_input;
  }
  n_faults += later.n_faults;
  if (!first_fault) first_fault = later.first_fault;
}

ErrorSummary ErrorMeter::measure(uint32_t first_input, const float* y, int64_t n) {
  const Binary64 evaluate = libm(function_);
  const auto input_of = [&](int64_t i) { return first_input + static_cast<uint32_t>(i); };
  const auto x_of = [&](int64_t i) { return std::bit_cast<float>(input_of(i)); };
  ErrorSummary summary;
  const auto fault = [&](int64_t i, double error_ulp) {
    if (summary.n_faults++ == 0)
      summary.first_fault = {input_of(i), std::bit_cast<uint32_t>(y[i]),
                             evaluate(static_cast<double>(x_of(i))), error_ulp};
  };

  std::vector<Bounds> bounds(static_cast<size_t>(n));
  double threshold = largest_ulp_.load(std::memory_order_relaxed);
  for (int64_t i = 0; i < n; ++i) {
    const double t = evaluate(static_cast<double>(x_of(i)));
    bool special;
    Bounds& b = bounds[static_cast<size_t>(i)];
    if (!is_exact_special(y[i], t, special)) {
      b = {kSpecial, kSpecial};
    } else if (special) {
      b = {0, 0};
    } else {
      b = error_bounds(y[i], t);
      threshold = std::max(threshold, b.lower);
    }
  }

  const MpfrOracle oracle;
  for (int64_t i = 0; i < n; ++i) {
    const auto [lower, upper] = bounds[static_cast<size_t>(i)];
    if (upper <= 1 && upper < threshold) continue;
    if (upper < threshold && lower > 1) {
      fault(i, lower);
      continue;
    }
    if (lower == kSpecial) {
      fault(i, kSpecial);
      continue;
    }
    const double error_ulp = oracle.error_ulp(function_, x_of(i), y[i]);
    if (error_ulp > 1) fault(i, error_ulp);
    if (error_ulp > summary.largest_ulp) {
      summary.largest_ulp = error_ulp;
      summary.largest_input = input_of(i);
    }
  }
  double largest = largest_ulp_.load(std::memory_order_relaxed);
  while (largest < summary.largest_ulp &&
         !largest_ulp_.compare_exchange_weak(largest, summary.largest_ulp)) {
  }
  return summary;
}

}  // namespace isobit

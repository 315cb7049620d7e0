// How far the elementary functions are from the true values, input by input.
//
// The true value t is first the one of libm in binary64, which is taken to be within 4 of its own
// ulps (glibc states at most 2 for these functions): 2^-27 of a binary32 ulp, hence the error of
// nearly every result is decided. Where it is not (the error could be above 1 ulp, or be the
// largest of the sweep), MPFR decides.
//
// The unit: ulp(t) is the spacing of binary32 in t's binade, 2^-149 where t is subnormal or zero.
// Special values must be exact, and differ from a plain error by `error_ulp` being infinite:
//   t is not a number        the one NaN, 0x7FC00000
//   t rounds to an infinity  that infinity, and nothing else is infinite
//   a zero                   has the sign of t
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "numeric/elementary.h"

namespace isobit {

struct ElementaryFault {
  uint32_t input = 0;  // bits
  uint32_t found = 0;  // bits
  double expected = 0;
  double error_ulp = 0;
};

struct ErrorSummary {
  // Errors of half an ulp and less are not told apart: nothing correctly rounded has a larger one.
  double largest_ulp = 0.5;
  std::optional<uint32_t> largest_input;  // the lowest bits with that error; nothing for 0.5
  uint64_t n_faults = 0;                  // errors above 1 ulp, wrong special values
  std::optional<ElementaryFault> first_fault;

  // What a summary of higher inputs adds to this one.
  void add(const ErrorSummary& later);
};

// Measures one function. measure() may be called by several threads at once; the summary of a whole
// sweep does not depend on their order, those of its parts do: a part's largest error is exact only
// where it is the sweep's.
class ErrorMeter {
 public:
  explicit ErrorMeter(Elementary function) : function_(function) {}

  // y (n): the results for the inputs with bits first_input, first_input + 1, ...
  ErrorSummary measure(uint32_t first_input, const float* y, int64_t n);

 private:
  Elementary function_;
  std::atomic<double> largest_ulp_{0.5};  // among what MPFR has decided so far
};

}  // namespace isobit

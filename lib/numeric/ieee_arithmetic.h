// Refuses to compile under arithmetic that is not the numeric contract's (section 1), however it
// was switched on: a flag that cmake/arithmetic.cmake does not see (a compiler's own configuration
// file, a wrapper) still defines these. Included by every file of the core that computes.
#pragma once

#include <cfloat>
#include <limits>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compiled with -ffast-math or one of its kin: the numeric contract forbids it"
#endif

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<float>::digits == 24,
              "float must be IEEE-754 binary32");
static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<double>::digits == 53,
              "double must be IEEE-754 binary64");
static_assert(FLT_EVAL_METHOD == 0, "float expressions must round to float (no x87)");

// The errors of the elementary functions by MPFR, for the few inputs where binary64 cannot decide.
// The only user of MPFR.
#pragma once

#include "numeric/elementary.h"

namespace isobit {

// One thread's oracle; its memory goes with it.
class MpfrOracle {
 public:
  MpfrOracle() = default;
  ~MpfrOracle();
  MpfrOracle(const MpfrOracle&) = delete;
  MpfrOracle& operator=(const MpfrOracle&) = delete;

  // |y - t| / ulp(t), rounded up, where t = function(x) with 160 bits. ulp(t) is the spacing of
  // binary32 in t's binade, 2^-149 for a subnormal or zero t.
  // REQUIRES: x, y and t are finite.
  double error_ulp(Elementary function, float x, float y) const;
};

}  // namespace isobit

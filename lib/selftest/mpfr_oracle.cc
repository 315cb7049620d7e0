#include "selftest/mpfr_oracle.h"

#include <mpfr.h>

#include <algorithm>

#include "base/error.h"

namespace isobit {
namespace {

constexpr mpfr_prec_t kPrecisionBits = 160;

class Number {
 public:
  Number() { mpfr_init2(value_, kPrecisionBits); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

void evaluate(Elementary function, mpfr_ptr t, mpfr_srcptr x) {
  switch (function) {
    case Elementary::kExp:
      mpfr_exp(t, x, MPFR_RNDN);
      return;
    case Elementary::kExp2:
      mpfr_exp2(t, x, MPFR_RNDN);
      return;
    case Elementary::kLog:
      mpfr_log(t, x, MPFR_RNDN);
      return;
    case Elementary::kTanh:
      mpfr_tanh(t, x, MPFR_RNDN);
      return;
    case Elementary::kErf:
      mpfr_erf(t, x, MPFR_RNDN);
      return;
  }
}

}  // namespace

MpfrOracle::~MpfrOracle() {
  mpfr_free_cache();
}

double MpfrOracle::error_ulp(Elementary function, float x, float y) const {
  Number input, truth, error;
  mpfr_set_flt(input.get(), x, MPFR_RNDN);
  evaluate(function, truth.get(), input.get());
  ISOBIT_REQUIRE(mpfr_number_p(truth.get()));
  // MPFR's exponent belongs to a mantissa in [1/2, 1).
  const mpfr_exp_t ulp_exponent =
      mpfr_zero_p(truth.get()) ? -149 : std::max<mpfr_exp_t>(mpfr_get_exp(truth.get()) - 24, -149);
  mpfr_set_flt(error.get(), y, MPFR_RNDN);
  mpfr_sub(error.get(), error.get(), truth.get(), MPFR_RNDN);
  mpfr_abs(error.get(), error.get(), MPFR_RNDN);
  mpfr_mul_2si(error.get(), error.get(), -ulp_exponent, MPFR_RNDU);
  return mpfr_get_d(error.get(), MPFR_RNDU);
}

}  // namespace isobit

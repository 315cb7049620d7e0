#include "kernels/cpu/reference_operators.h"
#include "numeric/lanes_scalar.h"

namespace isobit::reference {
namespace {

template <float (*kFunction)(float)>
void each(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = kFunction(x[i]);
}

}  // namespace

void elementary(Elementary function, const float* x, int64_t n, float* y) {
  switch (function) {
    case Elementary::kExp:
      return each<exp_f32>(x, n, y);
    case Elementary::kExp2:
      return each<exp2_f32>(x, n, y);
    case Elementary::kLog:
      return each<log_f32>(x, n, y);
    case Elementary::kTanh:
      return each<tanh_f32>(x, n, y);
    case Elementary::kErf:
      return each<erf_f32>(x, n, y);
  }
}

}  // namespace isobit::reference

// The elementary functions are at most 1 ulp from the true value for every input, and their special
// values are the ones that elementary.h promises. The oracle is libm in binary64, whose own error
// is a billion times smaller than an ulp of binary32.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "numeric/lanes_scalar.h"

namespace isobit {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Function {
  const char* name;
  float (*ours)(float);
  double (*oracle)(double);
};
const Function kFunctions[] = {
    {"exp", exp_f32, [](double x) { return std::exp(x); }},
    {"exp2", exp2_f32, [](double x) { return std::exp2(x); }},
    {"log", log_f32, [](double x) { return std::log(x); }},
    {"tanh", tanh_f32, [](double x) { return std::tanh(x); }},
    {"erf", erf_f32, [](double x) { return std::erf(x); }},
};

uint32_t bits_of(float x) {
  return std::bit_cast<uint32_t>(x);
}

// Error in units of the last place of the true value, subnormal units included.
double ulp_error(float y, double truth) {
  int exponent = 0;
  std::frexp(truth, &exponent);
  return std::fabs(static_cast<double>(y) - truth) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// True when y is within 1 ulp, or is the special value that the true value rounds to.
bool is_faithful(float y, double truth) {
  if (std::isnan(truth)) return bits_of(y) == 0x7FC00000;
  if (std::isinf(truth)) return static_cast<double>(y) == truth;
  if (std::isinf(y)) return std::fabs(truth) > 0x1.fffffep127;
  if (truth == 0) return y == 0 && std::signbit(y) == std::signbit(truth);
  return ulp_error(y, truth) <= 1.0;
}

void check(const Function& f, uint32_t input) {
  const auto x = std::bit_cast<float>(input);
  const float y = f.ours(x);
  if (is_faithful(y, f.oracle(static_cast<double>(x)))) return;
  FAIL_CHECK(std::string(f.name) << "(" << x << ") = " << y << ", bits " << input << " -> "
                                 << bits_of(y) << ", expected about "
                                 << f.oracle(static_cast<double>(x)));
}

TEST_CASE("every function is within one ulp on a sample of all inputs") {
  for (const Function& f : kFunctions) {
    for (uint64_t input = 0; input < uint64_t{1} << 32; input += 10007) {
      check(f, static_cast<uint32_t>(input));
    }
  }
}

TEST_CASE("every function is within one ulp at the ends of every binade, both signs") {
  for (const Function& f : kFunctions) {
    for (uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent) {
      for (const uint32_t mantissa :
           {0u, 1u, 2u, 0x2AAAAAu, 0x2AAAABu, 0x3504F3u, 0x400000u, 0x7FFFFEu, 0x7FFFFFu}) {
        check(f, sign_and_exponent << 23 | mantissa);
      }
    }
  }
}

TEST_CASE("every function is within one ulp around its branches and limits") {
  const std::vector<float> edges = {
      1.0f,       4.0f / 3,   2.0f / 3,    0.5f,    88.72284f, -87.33655f, -103.97208f, -103.27893f,
      127.0f,     128.0f,     -126.0f,     -149.0f, -150.0f,   9.0f,       9.0109f,     10.0f,
      3.9192059f, 3.9296875f, 0.34657359f, -1.0f,   90.0f,     -105.0f,    129.0f,      -151.0f};
  for (const Function& f : kFunctions) {
    for (const float edge : edges) {
      for (int step = -500; step <= 500; ++step) {
        check(f, bits_of(edge) + static_cast<uint32_t>(step));
      }
    }
  }
}

TEST_CASE("special values") {
  CHECK(bits_of(exp_f32(0.0f)) == bits_of(1.0f));
  CHECK(bits_of(exp_f32(-0.0f)) == bits_of(1.0f));
  CHECK(exp_f32(kInfinity) == kInfinity);
  CHECK(bits_of(exp_f32(-kInfinity)) == 0);
  CHECK(exp2_f32(128.0f) == kInfinity);
  CHECK(bits_of(exp2_f32(-151.0f)) == 0);
  for (int n = -149; n < 128; ++n) CHECK(exp2_f32(static_cast<float>(n)) == std::ldexp(1.0f, n));
  CHECK(bits_of(log_f32(1.0f)) == 0);
  CHECK(log_f32(0.0f) == -kInfinity);
  CHECK(log_f32(-0.0f) == -kInfinity);
  CHECK(log_f32(kInfinity) == kInfinity);
  CHECK(bits_of(log_f32(-1.0f)) == 0x7FC00000);
  CHECK(bits_of(log_f32(-kInfinity)) == 0x7FC00000);
  for (float (*odd)(float) : {tanh_f32, erf_f32}) {
    CHECK(bits_of(odd(0.0f)) == 0);
    CHECK(bits_of(odd(-0.0f)) == 0x80000000);
    CHECK(odd(kInfinity) == 1.0f);
    CHECK(odd(-kInfinity) == -1.0f);
  }
}

TEST_CASE("tanh and erf are odd in bits") {
  for (uint32_t input = 0; input < 0x80000000u; input += 100003) {
    for (float (*odd)(float) : {tanh_f32, erf_f32}) {
      const auto x = std::bit_cast<float>(input);
      if (x != x) continue;
      REQUIRE(bits_of(odd(-x)) == (bits_of(odd(x)) | 0x80000000));
    }
  }
}

TEST_CASE("any NaN, signalling or negative, gives the one NaN") {
  for (const Function& f : kFunctions) {
    for (const uint32_t nan : {0x7FC00000u, 0x7F800001u, 0xFFC00000u, 0xFFFFFFFFu, 0x7FBFFFFFu}) {
      CHECK(bits_of(f.ours(std::bit_cast<float>(nan))) == 0x7FC00000);
    }
  }
}

}  // namespace
}  // namespace isobit

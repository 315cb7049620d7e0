#include "numeric/function_digest.h"

#include <bit>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "numeric/lanes_scalar.h"

namespace isobit {
namespace {

constexpr uint64_t kSampleStride = 65521;  // a prime: exponents and mantissas are both spread

struct NamedFunction {
  const char* name;
  float (*function)(float);
};
constexpr NamedFunction kFunctions[] = {
    {"exp", exp_f32}, {"exp2", exp2_f32}, {"log", log_f32}, {"tanh", tanh_f32}, {"erf", erf_f32}};

void append_little_endian(std::vector<uint8_t>& out, uint32_t v) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(v >> shift));
}

}  // namespace

std::string function_digest(const std::string& function, uint64_t stride) {
  ISOBIT_REQUIRE(stride > 0);
  for (const NamedFunction& named : kFunctions) {
    if (function != named.name) continue;
    Sha256 digest;
    std::vector<uint8_t> bytes;
    for (uint64_t input = 0; input < uint64_t{1} << 32; input += stride) {
      const float y = named.function(std::bit_cast<float>(static_cast<uint32_t>(input)));
      append_little_endian(bytes, std::bit_cast<uint32_t>(y));
      if (bytes.size() < 65536) continue;
      digest.update(bytes.data(), bytes.size());
      bytes.clear();
    }
    digest.update(bytes.data(), bytes.size());
    return hex(digest.finish());
  }
  fail_require("function is one of exp, exp2, log, tanh, erf", __FILE__, __LINE__);
}

std::map<std::string, std::string> function_digests() {
  std::map<std::string, std::string> digests;
  for (const NamedFunction& named : kFunctions) {
    digests[named.name] = function_digest(named.name, kSampleStride);
  }
  return digests;
}

}  // namespace isobit

#include "selftest/elementary_sample.h"

#include <bit>
#include <optional>

#include "base/error.h"
#include "kernels/registry.h"

namespace isobit {

static_assert(std::endian::native == std::endian::little,
              "results are hashed as they lie in memory");

Sha256Digest sample_digest(const KernelSet& set, Elementary function) {
  ISOBIT_REQUIRE(set.elementary != nullptr);
  std::vector<float> x(kSampleInputs), y(kSampleInputs);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::bit_cast<float>(static_cast<uint32_t>(i) * kSampleStride);
  set.elementary(function, x.data(), kSampleInputs, y.data());
  return Sha256().update(y.data(), y.size() * sizeof(float)).finish();
}

std::vector<const KernelSet*> elementary_variants() {
  std::vector<const KernelSet*> variants;
  for (const KernelSetStatus& s : list_kernel_sets()) {
    if (s.available && (s.name == "reference" || s.name == "cpu"))
      variants.push_back(&kernel_set(s.name, s.isa));
  }
  return variants;
}

std::string sample_on_this_machine(Elementary function) {
  std::string each;
  std::optional<Sha256Digest> common;
  bool same = true;
  for (const KernelSet* set : elementary_variants()) {
    const Sha256Digest digest = sample_digest(*set, function);
    same = same && digest == common.value_or(digest);
    common = digest;
    each += (each.empty() ? "" : ", ") + set->isa + " " + hex(digest);
  }
  return same ? hex(*common) : each;
}

}  // namespace isobit

// Slices of every function against the published digests, and faults planted in a variant or in
// the digests. The whole is `isobit selftest --exhaustive`.
#include "selftest/elementary_sweep.h"

#include <doctest/doctest.h>

#include <bit>

#include "kernels/registry.h"
#include "selftest/elementary_sample.h"

namespace isobit {
namespace {

std::vector<FunctionSweep> sweep(std::vector<Elementary> functions, std::vector<int> slices,
                                 std::vector<const KernelSet*> variants) {
  ThreadPool pool(2);
  int n_finished = 0;
  const int n_items = static_cast<int>(functions.size() * slices.size());
  auto sweeps = sweep_elementary({std::move(functions), std::move(slices), std::move(variants)},
                                 pool, [&](int done, int of) {
                                   CHECK(done == ++n_finished);
                                   CHECK(of == n_items);
                                 });
  CHECK(n_finished == n_items);
  return sweeps;
}

TEST_CASE("slices with the subnormals, the branches and the limits of every function") {
  const std::vector<Elementary> all(std::begin(kElementaryFunctions),
                                    std::end(kElementaryFunctions));
  for (const FunctionSweep& s : sweep(all, {0x00, 0x3F, 0x40, 0x42, 0xBF}, {&kernel_set("cpu")})) {
    CAPTURE(name(s.function));
    CHECK(compare_with_published(s, digests_of(published_digests(), s.function)).same());
    CHECK(s.errors.n_faults == 0);
    CHECK(s.errors.largest_ulp <= 1);
    CHECK(s.n_inputs() == 5 * kSliceInputs);
    CHECK(!s.total());
  }
}

TEST_CASE("every variant gives the published sample") {
  for (const Elementary function : kElementaryFunctions) {
    CAPTURE(name(function));
    CHECK(sample_on_this_machine(function) ==
          hex(digests_of(published_digests(), function).sample));
  }
}

constexpr uint32_t kWrongInput = 0x3F123457;

// exp2, with the last bit of one result flipped.
void one_flipped_bit(Elementary function, const float* x, int64_t n, float* y) {
  kernel_set("cpu").elementary(function, x, n, y);
  for (int64_t i = 0; i < n; ++i) {
    if (std::bit_cast<uint32_t>(x[i]) == kWrongInput)
      y[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(y[i]) ^ 1);
  }
}

TEST_CASE("a variant with one flipped bit among 16 million is found, and the input named") {
  KernelSet wrong = kernel_set("cpu");
  wrong.elementary = one_flipped_bit;
  const FunctionDigests& published = digests_of(published_digests(), Elementary::kExp2);

  const FunctionSweep other = sweep({Elementary::kExp2}, {0x3F}, {&kernel_set("cpu"), &wrong})[0];
  CHECK(compare_with_published(other, published).same());
  REQUIRE(other.differences.size() == 2);
  CHECK(!other.differences[0]);
  REQUIRE(other.differences[1]);
  CHECK(other.differences[1]->n_inputs == 1);
  CHECK(other.differences[1]->first_input == kWrongInput);
  CHECK((other.differences[1]->expected ^ other.differences[1]->found) == 1);

  const FunctionSweep first = sweep({Elementary::kExp2}, {0x3F}, {&wrong})[0];
  CHECK(compare_with_published(first, published).differing_slices == std::vector<int>{0x3F});
}

TEST_CASE("a changed published digest is found, and one of a slice that was not swept is not") {
  const FunctionSweep s = sweep({Elementary::kLog}, {0x41}, {&kernel_set("cpu")})[0];
  FunctionDigests published = digests_of(published_digests(), Elementary::kLog);
  published.slices[0x42][31] ^= 1;
  CHECK(compare_with_published(s, published).same());
  published.slices[0x41][31] ^= 1;
  CHECK(compare_with_published(s, published).differing_slices == std::vector<int>{0x41});
  published.sample[0] ^= 1;
  CHECK(!compare_with_published(s, published).same_sample);
}

}  // namespace
}  // namespace isobit

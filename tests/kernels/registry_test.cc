// The registry names every set, refuses what cannot run with its reason, and never substitutes.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "kernels/registry.h"

namespace isobit {
namespace {

Error refusal(const std::string& name, const std::string& isa = {}) {
  try {
    kernel_set(name, isa);
  } catch (const Error& e) {
    return e;
  }
  FAIL("kernel set '" << name << "' '" << isa << "' was not refused");
  throw;
}

TEST_CASE("every available row can be had by name, and is what it says") {
  int n_available = 0;
  for (const KernelSetStatus& row : list_kernel_sets()) {
    CAPTURE(row.name);
    CAPTURE(row.isa);
    CHECK(row.available == row.reason.empty());
    if (!row.available) {
      const Error e = refusal(row.name, row.isa);
      CHECK(e.code() == ErrorCode::environment);
      CHECK(e.message().find(row.reason) != std::string::npos);
      continue;
    }
    ++n_available;
    const KernelSet& set = kernel_set(row.name, row.isa);
    CHECK(set.name == row.name);
    CHECK(set.isa == row.isa);
    CHECK(bool(set.pack));
    CHECK(bool(set.matmul));
    CHECK(bool(set.rms_norm));
    CHECK(bool(set.residual));
    CHECK(bool(set.silu_mul));
    CHECK(bool(set.rope));
    CHECK(bool(set.kv_write));
    CHECK(bool(set.attention));
    CHECK(bool(set.log_sum_exp));
  }
  CHECK(n_available >= 2);
}

TEST_CASE("without an instruction set, the best that runs here") {
  std::string best;
  for (const KernelSetStatus& row : list_kernel_sets()) {
    if (row.name == "cpu" && row.available) best = row.isa;
  }
  CHECK(kernel_set("cpu").isa == best);
  CHECK(kernel_set("reference").isa == "scalar");
}

TEST_CASE("an unknown word is a usage error with the nearest one") {
  const Error set = refusal("referense");
  CHECK(set.code() == ErrorCode::usage);
  CHECK(set.message() == "there is no kernel set 'referense' (did you mean 'reference'?)");
  CHECK(set.hint().find("cpu-adaptive") != std::string::npos);
  const Error isa = refusal("cpu", "avx3");
  CHECK(isa.code() == ErrorCode::usage);
  CHECK(isa.message().find("did you mean 'avx2'?") != std::string::npos);
  CHECK(refusal("reference", "avx2").code() == ErrorCode::usage);
}

TEST_CASE("a set that exists but cannot run here is an environment error with the reason") {
  const Error e = refusal("cuda");
  CHECK(e.code() == ErrorCode::environment);
  CHECK(e.message() == "kernel set 'cuda' (cuda) cannot run here: built without the CUDA toolkit");
  CHECK(e.hint().find("substitutes") != std::string::npos);
}

}  // namespace
}  // namespace isobit

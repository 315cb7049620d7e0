// Prints a digest of everything that the engine computes, one line per model and cache type. Built
// from the core alone (numeric contract section 7), so that every compiler and every architecture
// can print the same lines. tests/goldens/expected.txt holds them; a line that changes means that
// the contract changed.
//
// Usage: goldens [SET [FLAT_CHECKPOINT]]
//   SET              reference (the default), portable, avx2, avx512, neon
//   FLAT_CHECKPOINT  what flatten.py made of examples/tiny-kjv; without it that line is left out
// Exit 0; 77 when this machine cannot run the set; 1 when something is wrong.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "base/error.h"
#include "kernels/registry.h"
#include "tests/goldens/flat_checkpoint.h"
#include "tests/goldens/golden_architectures.h"
#include "tests/goldens/golden_models.h"
#include "tests/goldens/model_digest.h"
#include "tests/support/architecture_checkpoint.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

void print_line(const std::string& model, KvDType kv_dtype, const std::string& digest) {
  std::printf("%s kv-%s %s\n", model.c_str(), name(kv_dtype), digest.c_str());
  std::fflush(stdout);
}

void print_goldens(const KernelSet& kernels, const char* flat_checkpoint) {
  for (const GoldenModel& model : golden_models()) {
    for (const KvDType kv : model.kv_dtypes) {
      const RandomCheckpoint checkpoint(model.sizes, 2026);
      print_line(model.name, kv, model_digest(checkpoint, kernels, kv, model.prompt_lengths));
    }
  }
  for (const GoldenArchitecture& model : golden_architectures()) {
    const ArchitectureCheckpoint checkpoint(model.config, model.dtype);
    print_line(model.name, KvDType::kF16,
               model_digest(checkpoint, kernels, KvDType::kF16, kArchitecturePromptLengths));
  }
  if (flat_checkpoint == nullptr) return;
  const FlatCheckpoint checkpoint(flat_checkpoint);
  print_line(kBundledName, KvDType::kF16,
             model_digest(checkpoint, kernels, KvDType::kF16, kBundledPromptLengths));
}

// Null, and the reason printed, when this machine cannot run it.
const KernelSet* find_set(const std::string& word) {
  try {
    return word == "reference" ? &kernel_set(word) : &kernel_set("cpu", word);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::environment) throw;
    std::printf("SKIPPED: %s\n", e.what());
    return nullptr;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const KernelSet* kernels = find_set(argc > 1 ? argv[1] : "reference");
    if (kernels == nullptr) return 77;
    print_goldens(*kernels, argc > 2 ? argv[2] : nullptr);
    return 0;
  } catch (const std::exception& e) {
    std::printf("goldens: %s\n", e.what());
    return 1;
  }
}

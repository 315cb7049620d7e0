// The table of kernel sets. A row names one (set, instruction set), says why it cannot run here
// when it cannot, and gives its operators when it can. Rows of a set go from the slowest to the
// fastest.
#include "kernels/registry.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cpu/cpu_sets.h"
#include "kernels/cpu/f16c.h"
#include "kernels/cpu/reference.h"
#if defined(ISOBIT_HAVE_OPENBLAS) && !defined(ISOBIT_CORE_ONLY)
#include "kernels/adaptive/adaptive.h"
#endif

namespace isobit {
namespace {

struct Row {
  const char* name;
  const char* isa;
  std::string (*why_not)();  // "" when it can run on this machine
  const KernelSet& (*get)();
};

std::string always_runs() {
  return {};
}

#if defined(__x86_64__)

std::string missing(std::initializer_list<std::pair<const char*, bool>> features) {
  std::string names;
  for (const auto& [name, present] : features) {
    if (!present) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names.empty() ? names : "this processor lacks " + names;
}

std::string why_not_avx2() {
  __builtin_cpu_init();
  return missing({{"AVX2", __builtin_cpu_supports("avx2")},
                  {"FMA", __builtin_cpu_supports("fma")},
                  {"F16C", has_f16c()}});
}

std::string why_not_avx512() {
  __builtin_cpu_init();
  return missing({{"AVX-512F", __builtin_cpu_supports("avx512f")},
                  {"AVX-512BW", __builtin_cpu_supports("avx512bw")},
                  {"AVX-512VL", __builtin_cpu_supports("avx512vl")},
                  {"AVX-512DQ", __builtin_cpu_supports("avx512dq")},
                  {"FMA", __builtin_cpu_supports("fma")},
                  {"F16C", has_f16c()}});
}

#else

std::string why_not_avx2() {
  return "this is not an x86-64 processor";
}
std::string why_not_avx512() {
  return why_not_avx2();
}
#endif

#if !defined(__aarch64__)
std::string why_not_neon() {
  return "this is not an aarch64 processor";
}
#endif

std::string why_not_openblas() {
#if defined(ISOBIT_HAVE_OPENBLAS) && !defined(ISOBIT_CORE_ONLY)
  return {};
#else
  return "built without OpenBLAS";
#endif
}

std::string why_not_cuda() {
  return "built without the CUDA toolkit";
}

#if defined(__x86_64__)
constexpr auto kAvx2Set = cpu_kernel_set_avx2;
constexpr auto kAvx512Set = cpu_kernel_set_avx512;
#else
constexpr const KernelSet& (*kAvx2Set)() = nullptr;
constexpr const KernelSet& (*kAvx512Set)() = nullptr;
#endif
#if defined(__aarch64__)
constexpr auto why_not_neon = always_runs;
constexpr auto kNeonSet = cpu_kernel_set_neon;
#else
constexpr const KernelSet& (*kNeonSet)() = nullptr;
#endif
#if defined(ISOBIT_HAVE_OPENBLAS) && !defined(ISOBIT_CORE_ONLY)
constexpr auto kAdaptiveSet = adaptive_kernel_set;
#else
constexpr const KernelSet& (*kAdaptiveSet)() = nullptr;
#endif

constexpr Row kRows[] = {
    {"reference", "scalar", always_runs, reference_kernel_set},
    {"cpu", "portable", always_runs, cpu_kernel_set_portable},
    {"cpu", "neon", why_not_neon, kNeonSet},
    {"cpu", "avx2", why_not_avx2, kAvx2Set},
    {"cpu", "avx512", why_not_avx512, kAvx512Set},
    {"cpu-adaptive", "openblas", why_not_openblas, kAdaptiveSet},
    {"cuda", "cuda", why_not_cuda, nullptr},
    {"cuda-adaptive", "cuda", why_not_cuda, nullptr},
    {"cuda-tensor", "cuda", why_not_cuda, nullptr},
};

std::vector<std::string> distinct(const char* Row::*column) {
  std::vector<std::string> words;
  for (const Row& row : kRows) {
    if (std::find(words.begin(), words.end(), row.*column) == words.end()) {
      words.emplace_back(row.*column);
    }
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::vector<const Row*> rows_of(const std::string& name) {
  std::vector<const Row*> rows;
  for (const Row& row : kRows) {
    if (row.name == name) rows.push_back(&row);
  }
  return rows;
}

[[noreturn]] void refuse_unknown_set(const std::string& name) {
  const std::vector<std::string> names = distinct(&Row::name);
  throw Error(ErrorCode::usage, "there is no kernel set '" + name + "'" + did_you_mean(name, names),
              "the kernel sets are: " + joined(names));
}

[[noreturn]] void refuse_unknown_isa(const std::string& name, const std::string& isa) {
  std::vector<std::string> of_set;
  for (const Row* row : rows_of(name)) of_set.emplace_back(row->isa);
  throw Error(
      ErrorCode::usage,
      "kernel set '" + name + "' has no instruction set '" + isa + "'" + did_you_mean(isa, of_set),
      "its instruction sets are: " + joined(of_set));
}

[[noreturn]] void refuse_unavailable(const Row& row, const std::string& reason) {
  throw Error(
      ErrorCode::environment,
      "kernel set '" + std::string(row.name) + "' (" + row.isa + ") cannot run here: " + reason,
      "choose another set or instruction set; isobit never substitutes one for you");
}

}  // namespace

std::vector<KernelSetStatus> list_kernel_sets() {
  std::vector<KernelSetStatus> list;
  for (const Row& row : kRows) {
    std::string reason = row.why_not();
    const bool available = reason.empty();
    list.push_back({row.name, row.isa, available, std::move(reason)});
  }
  return list;
}

const KernelSet& kernel_set(const std::string& name, const std::string& isa) {
  const std::vector<const Row*> rows = rows_of(name);
  if (rows.empty()) refuse_unknown_set(name);
  const Row* chosen = nullptr;
  for (const Row* row : rows) {
    if (isa.empty() ? row->why_not().empty() : row->isa == isa) chosen = row;
  }
  if (chosen == nullptr && !isa.empty()) refuse_unknown_isa(name, isa);
  if (chosen == nullptr) refuse_unavailable(*rows.back(), rows.back()->why_not());
  const std::string reason = chosen->why_not();
  if (!reason.empty()) refuse_unavailable(*chosen, reason);
  ISOBIT_REQUIRE(chosen->get != nullptr);
  return chosen->get();
}

}  // namespace isobit

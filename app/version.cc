#include "app/version.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fingerprint/fingerprint.h"
#include "kernels/registry.h"
#include "report/text_wrap.h"

namespace isobit::app {

std::string version_number() {
  return ISOBIT_VERSION;
}

std::string release_date() {
  return ISOBIT_RELEASE_DATE;
}

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string compiler_flags_text() {
  return ISOBIT_BUILD_FLAGS;
}

namespace {

constexpr const char* kScheme = "f32";

using SetAndIsas = std::pair<std::string, std::vector<std::string>>;

// The instruction sets that can run here, of every kernel set.
std::vector<SetAndIsas> kernel_sets() {
  std::vector<SetAndIsas> sets;
  for (const KernelSetStatus& s : list_kernel_sets()) {
    if (sets.empty() || sets.back().first != s.name) sets.push_back({s.name, {}});
    if (s.available) sets.back().second.push_back(s.isa);
  }
  return sets;
}

// "cpu (portable, avx2, avx512), cuda (not here)".
std::string kernel_sets_text() {
  std::vector<std::string> words;
  for (const auto& [name, isas] : kernel_sets())
    words.push_back(fmt::format(
        "{} ({})", name, isas.empty() ? "not here" : fmt::format("{}", fmt::join(isas, ", "))));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string version_text() {
  std::string out = fmt::format("isobit {}\ncontract {}, scheme {}\n", version_number(),
                                kNumericContractVersion, kScheme);
  const auto add = [&out](std::string_view title, const std::string& text) {
    out += std::string(title) + wrapped_text(text, title.size());
  };
  add("kernel sets: ", kernel_sets_text());
  add("built by ", compiler_text() + " with " + compiler_flags_text());
  out.pop_back();
  return out;
}

Json version_json() {
  Json sets = Json::array();
  for (const auto& [name, isas] : kernel_sets())
    sets.push_back({{"kernel_set", name}, {"isas", isas}});
  return {{"version", version_number()},
          {"released", release_date()},
          {"contract", kNumericContractVersion},
          {"scheme", kScheme},
          {"kernel_sets", sets},
          {"compiler", compiler_text()},
          {"flags", compiler_flags_text()}};
}

}  // namespace isobit::app

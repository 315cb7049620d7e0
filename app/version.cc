#include "app/version.h"

#include <fmt/format.h>

#include "fingerprint/fingerprint.h"

namespace isobit::app {

std::string version_number() {
  return ISOBIT_VERSION;
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

std::string version_text() {
  return fmt::format("isobit {}\ncontract {}, scheme f32\nbuilt by {} with {}", version_number(),
                     kNumericContractVersion, compiler_text(), compiler_flags_text());
}

}  // namespace isobit::app

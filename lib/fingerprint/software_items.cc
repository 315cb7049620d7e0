// The software under the result: this program and how it was built, the libraries it computes with,
// the system below.
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include "base/digest.h"
#include "fingerprint/build_facts.h"
#include "fingerprint/fingerprint.h"
#include "fingerprint/machine_items.h"
#include "fingerprint/machine_text.h"

#ifdef ISOBIT_HAVE_OPENBLAS
extern "C" {
char* openblas_get_config(void);  // version, build options and the kernels chosen for this CPU
char* openblas_get_corename(void);
}
#endif

namespace isobit {
namespace {

constexpr FingerprintClass kClass = FingerprintClass::kSoftware;

void add_build(ItemList& items) {
  const BuildFacts build = build_facts();
  items.measured(kClass, "isobit", build.isobit_version);
  items.measured(kClass, "compiler", build.compiler);
  items.measured(kClass, "compiler.flags", build.compiler_flags);
  items.measured(kClass, "compiler.build_type", build.build_type);
  if (build.cuda_toolkit.empty()) {
    items.absent(kClass, "cuda.toolkit", "built without CUDA");
  } else {
    items.measured(kClass, "cuda.toolkit", build.cuda_toolkit);
  }
}

void add_libraries(const FingerprintInputs& inputs, ItemList& items) {
#ifdef ISOBIT_HAVE_OPENBLAS
  items.measured(kClass, "openblas", openblas_get_config());
  items.measured(kClass, "openblas.core", openblas_get_corename());
#else
  items.absent(kClass, "openblas", "built without OpenBLAS");
#endif
  items.measured(kClass, "openssl", digest_library_version());
  items.declared_or_unknown(kClass, "sqlite", inputs.sqlite_version, "not handed in");
  items.measured(kClass, "libc", std::string("glibc ") + ::gnu_get_libc_version());
}

void add_system(ItemList& items) {
  struct utsname system {};
  if (::uname(&system) == 0) {
    items.measured(kClass, "kernel",
                   std::string(system.sysname) + " " + system.release + " " + system.machine);
  } else {
    items.unknown(kClass, "kernel", "uname failed");
  }
  const std::string os = parse_os_name(read_system_file("/etc/os-release").value_or(""));
  if (os.empty()) {
    items.unknown(kClass, "os", "/etc/os-release does not name it");
  } else {
    items.measured(kClass, "os", os);
  }
}

}  // namespace

void add_software_items(const FingerprintInputs& inputs, const CudaFacts& cuda, ItemList& items) {
  add_build(items);
  add_driver_items(cuda, items);
  add_libraries(inputs, items);
  add_system(items);
}

}  // namespace isobit

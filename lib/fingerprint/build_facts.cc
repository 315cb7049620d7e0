#include "fingerprint/build_facts.h"

namespace isobit {

BuildFacts build_facts() {
  return {.isobit_version = ISOBIT_VERSION,
          .compiler = ISOBIT_COMPILER,
          .compiler_flags = ISOBIT_COMPILER_FLAGS,
          .build_type = ISOBIT_BUILD_TYPE,
          .cuda_toolkit = ISOBIT_CUDA_TOOLKIT};
}

}  // namespace isobit

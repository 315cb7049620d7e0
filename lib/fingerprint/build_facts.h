// How this program was built: constants that CMake hands to one file, so that changing a flag
// rebuilds only that one.
#pragma once

#include <string>

namespace isobit {

struct BuildFacts {
  std::string isobit_version;
  std::string compiler;        // "GNU 12.2.0"
  std::string compiler_flags;  // of every file, without include paths
  std::string build_type;      // "Release"
  std::string cuda_toolkit;    // empty: built without CUDA
};

BuildFacts build_facts();

}  // namespace isobit

#include "app/installed_files.h"

#include <filesystem>

namespace isobit::app {

std::string bundled_checkpoint() {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path folder = failed ? "/usr/bin" : program.parent_path();  // without /proc
  const fs::path installed = folder / "../share/isobit/examples/tiny-kjv";
  for (const fs::path& place : {folder / ISOBIT_EXAMPLES_FROM_BUILD "/tiny-kjv", installed}) {
    if (fs::is_directory(place, failed)) return place.lexically_normal().string();
  }
  return installed.lexically_normal().string();
}

}  // namespace isobit::app

#include "base/file_place.h"

#include "base/descriptor.h"

namespace isobit {

namespace fs = std::filesystem;

fs::path file_place(const fs::path& name, std::error_code& failed) {
  constexpr int kMostLinks = 40;
  std::error_code missing;
  fs::path place = fs::absolute(name, failed);
  if (!failed) place = fs::weakly_canonical(place, failed);
  for (int i = 0; i < kMostLinks && !failed && fs::is_symlink(place, missing); ++i) {
    const fs::path target = fs::read_symlink(place, failed);
    if (!failed) place = fs::weakly_canonical(place.parent_path() / target, failed);
  }
  return place;
}

void require_writable_folder(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path folder = file_place(path, error).parent_path();
  if (error) fail_at_file("cannot write", path, error.value());
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  throw Error(ErrorCode::environment,
              "cannot write '" + path.string() + "': its folder '" + folder.string() +
                  "' cannot be written to: " + std::strerror(errno),
              "make the folder, or name another one");
}

}  // namespace isobit

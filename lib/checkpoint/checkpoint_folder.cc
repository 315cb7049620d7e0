#include "checkpoint/checkpoint_folder.h"

#include <algorithm>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

fs::path file_of(const fs::path& folder, const std::string& name, const std::string& where) {
  const fs::path path = folder / name;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) refuse(where, "no file " + shown(name), "is the download complete?");
  const fs::path home = fs::canonical(folder.empty() ? fs::path(".") : folder);
  const bool in_hub_cache = home.parent_path().filename() == "snapshots" &&
                            is_inside(real, home.parent_path().parent_path() / "blobs");
  if (!is_inside(real, home) && !in_hub_cache) {
    refuse(
        where,
        shown(name) + " is a link to " + shown(real.string()) + ", outside the checkpoint's folder",
        "copy the file into the folder");
  }
  return path;
}

}  // namespace isobit

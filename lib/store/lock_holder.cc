#include "store/lock_holder.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace isobit {
namespace fs = std::filesystem;
namespace {

bool holds(const fs::path& process, const fs::path& file) {
  std::error_code ignored;  // a process may end, or belong to someone else, while we look
  for (fs::directory_iterator fd(process / "fd", ignored), end; !ignored && fd != end;
       fd.increment(ignored)) {
    std::error_code gone;
    if (fs::read_symlink(fd->path(), gone) == file) return true;
  }
  return false;
}

std::string command_name(const fs::path& process) {
  std::ifstream in(process / "comm");
  std::string name;
  std::getline(in, name);
  return name;
}

}  // namespace

std::string processes_holding(const fs::path& path) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) return {};
  std::string others;
  bool self = false;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string pid = entry->path().filename().string();
    if (!std::ranges::all_of(pid, [](char c) { return c >= '0' && c <= '9'; }) ||
        !holds(entry->path(), file))
      continue;
    if (pid == std::to_string(::getpid())) {
      self = true;
    } else {
      others += (others.empty() ? "process " : ", process ") + pid + " (" +
                command_name(entry->path()) + ")";
    }
  }
  return others.empty() && self ? "this process" : others;
}

}  // namespace isobit

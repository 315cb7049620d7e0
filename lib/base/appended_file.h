// Files that are added to: a log, line by line, and a page that earlier commands wrote a part of.
#pragma once

#include <filesystem>
#include <string_view>

namespace isobit {

// A file that only grows. What it must not grow (a store, a key, an input of the same command) is
// refused with Error(usage), what cannot be opened with Error(environment).
class AppendedFile {
 public:
  explicit AppendedFile(const std::filesystem::path& path);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  // Throws Error(environment) with the path and the system's reason.
  void append(std::string_view text);

 private:
  std::filesystem::path path_;
  int fd_;
};

}  // namespace isobit

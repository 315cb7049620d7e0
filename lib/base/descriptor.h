// An open file, closed when it goes, and what is said of one that the system refuses.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace isobit {

[[noreturn]] inline void fail_at_file(const std::string& what, const std::filesystem::path& path,
                                      int error_number) {
  throw Error(ErrorCode::environment,
              what + " '" + path.string() + "': " + std::strerror(error_number));
}

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }  // -1: it could not be opened, errno says why
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Throws Error(environment) with the path and the system's reason.
inline void write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_at_file("cannot write", path, errno);
    content.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace isobit

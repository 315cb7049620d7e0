#include "app/recording_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace isobit::app {

namespace {

// is_recorded_to() holds the lock for an instant.
bool locked_soon(int fd) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    ::usleep(5000);
    errno = EWOULDBLOCK;
  }
  return false;
}

}  // namespace

bool is_recorded_to(const std::string& store) {
  const int fd = ::open(store.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  const bool is_free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  ::close(fd);
  return !is_free;
}

RecordingLock::RecordingLock(const std::string& store)
    : fd_(::open(store.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0)
    throw Error(ErrorCode::environment,
                "cannot open the store '" + store + "': " + std::strerror(errno));
  if (locked_soon(fd_)) return;
  const int reason = errno;
  ::close(fd_);
  if (reason != EWOULDBLOCK) {
    throw Error(ErrorCode::environment,
                "cannot lock the store '" + store + "': " + std::strerror(reason));
  }
  throw Error(ErrorCode::environment,
              "the store '" + store + "' is being recorded to by another isobit",
              "wait until it has ended, or record to another file with --store");
}

RecordingLock::~RecordingLock() {
  ::close(fd_);
}

}  // namespace isobit::app

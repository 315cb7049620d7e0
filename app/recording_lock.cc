#include "app/recording_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace isobit::app {

RecordingLock::RecordingLock(const std::string& store)
    : fd_(::open(store.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0)
    throw Error(ErrorCode::environment,
                "cannot open the store '" + store + "': " + std::strerror(errno));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
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

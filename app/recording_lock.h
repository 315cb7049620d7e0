// One process at a time records into a store: two would both run the cells that are still open.
#pragma once

#include <string>

namespace isobit::app {

// Held until destroyed, or until the process ends however it ends. It must outlive the open store:
// closing any descriptor of a file drops the POSIX locks that SQLite holds on it.
class RecordingLock {
 public:
  // REQUIRES: the store exists. Waits a moment for readers that look whether it is held. Throws
  // Error(environment) when another process holds the lock.
  explicit RecordingLock(const std::string& store);
  ~RecordingLock();
  RecordingLock(const RecordingLock&) = delete;
  RecordingLock& operator=(const RecordingLock&) = delete;

 private:
  int fd_;
};

// Whether a process records into the store just now; true where that cannot be told. Writes
// nothing. REQUIRES: this process has no SQLite store open on it (see above).
bool is_recorded_to(const std::string& store);

}  // namespace isobit::app

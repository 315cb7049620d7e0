#include "base/locked_page.h"

#include <sys/file.h>
#include <sys/stat.h>

#include "base/file_place.h"
#include "base/protected_files.h"

namespace isobit {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_kind(const fs::path& path) {
  throw Error(ErrorCode::environment, "cannot write '" + path.string() + "': not a regular file",
              "name a file");
}

bool is_still_named(int fd, const fs::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Where a file system has no locks, one write at the end has to do.
void lock(int fd) {
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
}

}  // namespace

void require_growable(const fs::path& path) {
  std::error_code ignored;
  refuse_protected(path);
  refuse_protected(file_place(path, ignored));
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0) {
    if (!S_ISREG(st.st_mode)) refuse_kind(path);
    if (::access(path.c_str(), W_OK) != 0) fail_at_file("cannot write", path, errno);
  } else {
    require_writable_folder(path);
  }
}

LockedPage::LockedPage(const fs::path& path) : path_(path) {
  require_growable(path);
  struct stat st {};
  is_new_ = ::stat(path.c_str(), &st) != 0;
  do {  // who made it may have taken it away again
    file_.emplace(path, O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, 0644);
    if (file_->get() < 0) fail_at_file("cannot open", path, errno);
    lock(file_->get());
  } while (!is_still_named(file_->get(), path));
  if (::fstat(file_->get(), &st) != 0) fail_at_file("cannot stat", path, errno);
  if (!S_ISREG(st.st_mode)) refuse_kind(path);
  size_bytes_ = static_cast<size_t>(st.st_size);
}

LockedPage::~LockedPage() {
  struct stat st {};
  if (is_new_ && ::fstat(file_->get(), &st) == 0 && st.st_size == 0) {
    std::error_code ignored;
    ::unlink(file_place(path_, ignored).c_str());
  }
}

bool LockedPage::ends_a_line() const {
  char last = '\n';
  if (size_bytes_ > 0 && ::pread(file_->get(), &last, 1, static_cast<off_t>(size_bytes_ - 1)) != 1)
    fail_at_file("cannot read", path_, errno);
  return last == '\n';
}

size_t LockedPage::size_with(size_t n_bytes) const {
  return size_bytes_ + (ends_a_line() ? 0 : 1) + n_bytes;
}

void LockedPage::append(std::string_view text) {
  const std::string added = (ends_a_line() ? "" : "\n") + std::string(text);
  try {
    write_all(file_->get(), added, path_);
  } catch (const Error&) {
    [[maybe_unused]] const int cut = ::ftruncate(file_->get(), static_cast<off_t>(size_bytes_));
    throw;
  }
  note_written(file_->get());
}

}  // namespace isobit

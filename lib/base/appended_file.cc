#include "base/appended_file.h"

#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/file_place.h"
#include "base/protected_files.h"

namespace isobit {
namespace {

namespace fs = std::filesystem;

// A pipe that nobody reads must not be waited for.
constexpr int kGrowFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK;

bool is_own_stream(const fs::path& path) {
  const std::string name = path.string();
  for (const std::string_view begin :
       {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

void refuse_pipes(const fs::path& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0 || S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)) return;
  if (is_own_stream(path)) return;
  throw Error(ErrorCode::environment, "cannot write '" + path.string() + "': not a regular file",
              "name a file for the log");
}

}  // namespace

AppendedFile::AppendedFile(const fs::path& path) : path_(path) {
  std::error_code ignored;
  refuse_protected(path);
  refuse_protected(file_place(path, ignored));
  refuse_pipes(path);
  Descriptor file(path, kGrowFlags, 0644);
  if (file.get() < 0) fail_at_file("cannot open", path, errno);
  ::fcntl(file.get(), F_SETFL, O_APPEND);  // from here on it may be waited for
  note_appended(file.get());
  fd_ = file.release();
}

AppendedFile::~AppendedFile() {
  ::close(fd_);
}

void AppendedFile::append(std::string_view text) {
  if (!appended_file_was_read()) write_all(fd_, text, path_);
}

}  // namespace isobit

#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_place.h"
#include "base/protected_files.h"

namespace isobit {
namespace {

// O_NONBLOCK: opening a pipe that nobody writes to must not hang; it changes nothing for regular
// files.
constexpr int kReadFlags = O_RDONLY | O_NONBLOCK;

// The size of an open regular file. A directory or a device is refused: neither can be a checkpoint
// or a configuration.
size_t regular_size(int fd, const std::filesystem::path& path) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) fail_at_file("cannot stat", path, errno);
  if (S_ISDIR(st.st_mode)) fail_at_file("cannot read", path, EISDIR);
  if (!S_ISREG(st.st_mode))
    throw Error(ErrorCode::environment, "'" + path.string() + "' is not a regular file");
  return static_cast<size_t>(st.st_size);
}

std::string read_whole(int fd, const std::filesystem::path& path, size_t max_bytes) {
  const size_t size = regular_size(fd, path);
  if (size > max_bytes) {
    throw Error(ErrorCode::environment, "'" + path.string() + "' has " + std::to_string(size) +
                                            " bytes; at most " + std::to_string(max_bytes) +
                                            " are read");
  }
  std::string out(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd, out.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_at_file("cannot read", path, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return out;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, size_t max_bytes) {
  const Descriptor file(path, kReadFlags);
  if (file.get() < 0) fail_at_file("cannot open", path, errno);
  note_read(file.get(), path);
  return read_whole(file.get(), path, max_bytes);
}

namespace {

// Where a file of that name is written: links are followed. A device, a pipe or a folder is
// refused, since a rename would put a file in its place.
std::filesystem::path written_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = file_place(path, error);
  if (error) fail_at_file("cannot write", path, error.value());
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::environment, "cannot write '" + path.string() + "': not a regular file",
                "name a file; leave the option out to print to standard output");
  }
  refuse_protected(path);  // a checkpoint's folder may link to files that have other names
  refuse_protected(target);
  return target;
}

}  // namespace

namespace {

// "report.html.tmp4711": the process says whose it is, a lock on the file that it is being written.
constexpr std::string_view kTemporary = ".tmp";

// What the temporary names of `path` begin with: short, since a name of the greatest length leaves
// no room for more, and cut between characters.
std::string temporary_begin(const std::filesystem::path& path) {
  constexpr size_t kMostBytes = 64;
  std::string name = path.filename().string();
  if (name.size() > kMostBytes) {
    size_t n = kMostBytes;
    while (n > 0 && (static_cast<unsigned char>(name[n]) & 0xC0) == 0x80) --n;
    name.resize(n);
  }
  return name + std::string(kTemporary);
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  return path.parent_path() / (temporary_begin(path) + std::to_string(::getpid()));
}

// The process that `name` says is writing it; 0: it is no temporary file of `path`.
pid_t writer_of(std::string_view name, const std::filesystem::path& path) {
  const std::string begin = temporary_begin(path);
  if (!name.starts_with(begin)) return 0;
  pid_t pid = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + begin.size(), end, pid);
  return error == std::errc() && at == end && pid > 0 ? pid : 0;
}

// Two signs that nobody writes it any more: no such process, and no lock, which a process that this
// one cannot see (another container's) would hold.
bool is_abandoned(const std::filesystem::path& temporary, pid_t writer) {
  if (writer != ::getpid() && (::kill(writer, 0) == 0 || errno != ESRCH)) return false;
  const Descriptor file(temporary, kReadFlags | O_NOFOLLOW);
  struct stat st {};
  return file.get() >= 0 && ::fstat(file.get(), &st) == 0 && S_ISREG(st.st_mode) &&
         ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

// What processes that were killed while they wrote `path` left beside it.
void remove_abandoned(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const pid_t writer = writer_of(at->path().filename().string(), path);
    if (writer != 0 && is_abandoned(at->path(), writer)) ::unlink(at->path().c_str());
  }
}

}  // namespace

void require_replaceable(const std::filesystem::path& path) {
  static_cast<void>(written_path(path));
}

void write_file_atomically(const std::filesystem::path& name, std::string_view content) {
  const std::filesystem::path path = written_path(name);
  remove_abandoned(path);
  const std::filesystem::path temporary = temporary_beside(path);
  // New, and no link: in a folder that others write to, the name may have been guessed.
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (file.get() < 0) fail_at_file("cannot create", temporary, errno);
  ::flock(file.get(), LOCK_EX | LOCK_NB);
  try {
    write_all(file.get(), content, path);
    if (::fsync(file.get()) != 0) fail_at_file("cannot sync", path, errno);
    note_written(file.get());
    if (::close(file.release()) != 0) fail_at_file("cannot close", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      fail_at_file("cannot rename over", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const Descriptor file(path, kReadFlags);
  if (file.get() < 0) fail_at_file("cannot open", path, errno);
  note_read(file.get(), path);
  size_bytes_ = regular_size(file.get(), path);
  if (size_bytes_ == 0) return;
  void* at = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) fail_at_file("cannot map", path, errno);
  data_ = static_cast<std::byte*>(at);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

void MappedFile::release_pages(size_t offset_bytes, size_t n_bytes) const {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset_bytes + page - 1) / page * page;
  const size_t end = std::min(offset_bytes + n_bytes, size_bytes_) / page * page;
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace isobit

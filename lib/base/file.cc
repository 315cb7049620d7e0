#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fstream>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace isobit {
namespace {

[[noreturn]] void fail(const std::string& what, const std::filesystem::path& path,
                       int error_number) {
  throw Error(ErrorCode::environment,
              what + " '" + path.string() + "': " + std::strerror(error_number));
}

// O_NONBLOCK: opening a pipe that nobody writes to must not hang; it changes nothing for regular
// files.
constexpr int kReadFlags = O_RDONLY | O_NONBLOCK;

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// The size of an open regular file. A directory or a device is refused: neither can be a checkpoint
// or a configuration.
size_t regular_size(int fd, const std::filesystem::path& path) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) fail("cannot stat", path, errno);
  if (S_ISDIR(st.st_mode)) fail("cannot read", path, EISDIR);
  if (!S_ISREG(st.st_mode))
    throw Error(ErrorCode::environment, "'" + path.string() + "' is not a regular file");
  return static_cast<size_t>(st.st_size);
}

void write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write", path, errno);
    content.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path, size_t max_bytes) {
  const Descriptor file(path, kReadFlags);
  if (file.get() < 0) fail("cannot open", path, errno);
  const size_t size = regular_size(file.get(), path);
  if (size > max_bytes) {
    throw Error(ErrorCode::environment, "'" + path.string() + "' has " + std::to_string(size) +
                                            " bytes; at most " + std::to_string(max_bytes) +
                                            " are read");
  }
  std::string out(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(file.get(), out.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot read", path, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return out;
}

namespace {

// Where a file of that name is written: links are followed. A device, a pipe or a folder is
// refused, since a rename would put a file in its place.
// An output that is named like a store or a key by mistake must not take its place: a report can be
// made again, they cannot.
void refuse_precious(const std::filesystem::path& target) {
  std::ifstream file(target, std::ios::binary);
  std::string begin(16, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  const char* what = begin.starts_with("SQLite format 3") ? "a store"
                     : begin.starts_with("-----BEGIN")    ? "a key"
                                                          : nullptr;
  if (what == nullptr) return;
  throw Error(ErrorCode::usage,
              "'" + target.string() + "' is " + what + ", which an output would replace",
              "name another file, or remove that one first");
}

std::filesystem::path written_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error) fail("cannot write", path, error.value());
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::environment, "cannot write '" + path.string() + "': not a regular file",
                "name a file; leave the option out to print to standard output");
  }
  refuse_precious(target);
  return target;
}

}  // namespace

void write_file_atomically(const std::filesystem::path& name, std::string_view content) {
  const std::filesystem::path path = written_path(name);
  const std::filesystem::path temporary = path.string() + ".tmp" + std::to_string(::getpid());
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file.get() < 0) fail("cannot create", temporary, errno);
  try {
    write_all(file.get(), content, temporary);
    if (::fsync(file.get()) != 0) fail("cannot sync", temporary, errno);
    if (::close(file.release()) != 0) fail("cannot close", temporary, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot rename over", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const Descriptor file(path, kReadFlags);
  if (file.get() < 0) fail("cannot open", path, errno);
  size_bytes_ = regular_size(file.get(), path);
  if (size_bytes_ == 0) return;
  void* at = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) fail("cannot map", path, errno);
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

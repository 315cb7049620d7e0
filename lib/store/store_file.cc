#include "store/store_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "store/migrations.h"

namespace isobit {
namespace fs = std::filesystem;
namespace {

// SQLite's file header: sqlite.org/fileformat2.html, section 1.3. Numbers are big-endian.
constexpr size_t kHeaderBytes = 100;
constexpr char kMagic[16] = "SQLite format 3";
constexpr size_t kPageSizeAt = 16, kChangeCounterAt = 24, kPageCountAt = 28, kUserVersionAt = 60,
                 kApplicationIdAt = 68, kVersionValidForAt = 92;

[[noreturn]] void fail(const fs::path& path, const std::string& what, std::string hint) {
  throw Error(ErrorCode::environment, "store '" + path.string() + "' " + what, std::move(hint));
}

uint32_t big_endian(const std::array<unsigned char, kHeaderBytes>& header, size_t at,
                    size_t n_bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < n_bytes; ++i) value = value << 8 | header[at + i];
  return value;
}

void check_folder(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  struct stat st {};
  if (::stat(folder.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    fail(path, "cannot be created: there is no folder '" + folder.string() + "'",
         "create the folder first");
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(path,
         "cannot be recorded to: folder '" + folder.string() + "' is not writable (" +
             std::strerror(errno) + ")",
         "SQLite keeps its journal beside the store; choose a folder that you may write to");
  }
}

bool has_bytes(const fs::path& path, const char* journal) {
  std::error_code no_journal;
  const auto size = fs::file_size(path.string() + journal, no_journal);
  return !no_journal && size > 0;
}

bool begins_as_tar(const fs::path& path) {
  constexpr size_t kMagicAt = 257;
  std::string begin(kMagicAt + 5, '\0');
  std::ifstream(path, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.ends_with("ustar");
}

[[noreturn]] void refuse_other_format(const fs::path& path) {
  if (begins_as_tar(path)) {
    fail(path, "is no store but a bundle",
         "isobit verify lists its runs; name it where a run is asked for (FILE.tar:latest~1), or "
         "isobit store import FILE.tar --store NEW.db");
  }
  fail(path, "is not an SQLite database",
       "give the path of an isobit store, or of a file that does not exist yet; baseline files "
       "begin with {, bundles are tar archives");
}

void check_header(const fs::path& path, uint64_t size_bytes) {
  std::array<unsigned char, kHeaderBytes> header{};
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail(path, std::string("cannot be read: ") + std::strerror(errno), "check its permissions");
  in.read(reinterpret_cast<char*>(header.data()), kHeaderBytes);
  if (in.gcount() < static_cast<std::streamsize>(sizeof kMagic) ||
      std::memcmp(header.data(), kMagic, sizeof kMagic) != 0)
    refuse_other_format(path);
  if (size_bytes < kHeaderBytes)
    fail(path, "is truncated inside its header", "restore it from a copy");
  const bool unfinished = has_bytes(path, "-journal");  // the file may be ahead of its last commit
  const uint32_t application = big_endian(header, kApplicationIdAt, 4);
  if (application == 0 && unfinished) return;
  if (application != static_cast<uint32_t>(kStoreApplicationId)) {
    fail(path,
         "is an SQLite database of another program (application id " + std::to_string(application) +
             ", an isobit store has " + std::to_string(kStoreApplicationId) + ")",
         "choose another --store");
  }
  const uint32_t version = big_endian(header, kUserVersionAt, 4);
  if (version > static_cast<uint32_t>(current_schema_version())) {
    fail(path,
         "has schema version " + std::to_string(version) + "; this isobit reads up to " +
             std::to_string(current_schema_version()),
         "use the newer isobit that made it");
  }
  if (unfinished || has_bytes(path, "-wal")) return;  // then the file may lag behind its header
  const uint32_t stored_page = big_endian(header, kPageSizeAt, 2);
  const uint64_t page_bytes = stored_page == 1 ? 65536 : stored_page;
  const uint64_t expected = page_bytes * big_endian(header, kPageCountAt, 4);
  const bool count_is_valid =
      big_endian(header, kChangeCounterAt, 4) == big_endian(header, kVersionValidForAt, 4);
  if (count_is_valid && size_bytes < expected) {
    fail(path,
         "is truncated: it has " + std::to_string(size_bytes) + " bytes, its header says " +
             std::to_string(expected),
         "restore it from a copy");
  }
}

}  // namespace

StoreFile inspect_store_file(const fs::path& path, StoreMode mode) {
  if (path.empty()) throw Error(ErrorCode::usage, "the path of the store is empty");
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) {
    if (errno != ENOENT && errno != ENOTDIR)
      fail(path, std::string("cannot be examined: ") + std::strerror(errno), "");
    if (mode == StoreMode::kRead)
      fail(path, "does not exist", "record one with isobit run --store, or check the path");
    check_folder(path);
    return StoreFile::kAbsent;
  }
  if (S_ISLNK(st.st_mode)) {
    std::error_code ignored;
    fail(path, "is a symbolic link (to '" + fs::read_symlink(path, ignored).string() + "')",
         "name the file itself: a store and its journal must lie in one folder");
  }
  if (S_ISDIR(st.st_mode)) fail(path, "is a folder", "give the path of a file in it");
  if (!S_ISREG(st.st_mode)) fail(path, "is not a regular file", "give the path of a file");
  if (mode == StoreMode::kRecord) {
    check_folder(path);
    if (::access(path.c_str(), R_OK | W_OK) != 0) {
      fail(path, std::string("is not writable: ") + std::strerror(errno),
           "change its permissions or choose another --store");
    }
  }
  if (st.st_size == 0) {
    if (mode == StoreMode::kRead)
      fail(path, "is empty", "record to it with isobit run --store, or check the path");
    return StoreFile::kEmpty;
  }
  check_header(path, static_cast<uint64_t>(st.st_size));
  return StoreFile::kStore;
}

}  // namespace isobit

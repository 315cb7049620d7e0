#include "base/protected_files.h"

#include <sys/stat.h>

#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"

namespace isobit {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;

enum class Use { kRead, kWritten, kAppended };

struct FileUses {
  std::mutex mutex;
  bool watched = false;
  std::map<FileId, Use> uses;
};

FileUses& file_uses() {
  static FileUses uses;
  return uses;
}

void note(int fd, Use use) {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  struct stat st {};
  if (!all.watched || ::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return;
  all.uses.insert_or_assign({st.st_dev, st.st_ino}, use);
}

const Use* use_of(const FileUses& all, const struct stat& st) {
  const auto at = all.uses.find({st.st_dev, st.st_ino});
  return at == all.uses.end() ? nullptr : &at->second;
}

bool begins_like_a_store(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(15, '\0');
  return file.read(begin.data(), 15) && begin == "SQLite format 3";
}

bool begins_like_a_key(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(10, '\0');
  return file.read(begin.data(), 10) && begin == "-----BEGIN";
}

// SQLite keeps what is not yet in a store beside it.
bool belongs_to_a_store(const fs::path& path) {
  const std::string name = path.string();
  for (const std::string_view end : {"-wal", "-shm", "-journal"}) {
    if (name.ends_with(end) && begins_like_a_store(name.substr(0, name.size() - end.size())))
      return true;
  }
  return false;
}

void refuse_precious(const fs::path& target) {
  const char* what = begins_like_a_store(target)  ? "a store"
                     : begins_like_a_key(target)  ? "a key"
                     : belongs_to_a_store(target) ? "a part of a store"
                                                  : nullptr;
  if (what == nullptr) return;
  throw Error(ErrorCode::usage,
              "'" + target.string() + "' is " + what + ", which an output would replace",
              "name another file, or remove that one first");
}

void refuse_used(const fs::path& target) {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  struct stat st {};
  if (::stat(target.c_str(), &st) != 0) return;
  const Use* use = use_of(all, st);
  if (use == nullptr) return;
  const char* how = *use == Use::kRead      ? "is read by this command"
                    : *use == Use::kWritten ? "was just written by this command"
                                            : "is what this command's log goes to";
  throw Error(ErrorCode::usage,
              "'" + target.string() + "' " + how + ", and an output would replace it",
              "name another file for the output");
}

}  // namespace

void watch_file_uses() {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  all.watched = true;
}

void stop_watching_file_uses() {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  all.watched = false;
  all.uses.clear();
}

void note_read(int fd, const fs::path& path) {
  {
    FileUses& all = file_uses();
    const std::lock_guard lock(all.mutex);
    struct stat st {};
    if (!all.watched || ::fstat(fd, &st) != 0) return;
    const Use* use = use_of(all, st);
    if (use != nullptr && *use == Use::kAppended)
      throw Error(ErrorCode::usage,
                  "'" + path.string() + "' is read by this command, and is what its log goes to",
                  "name another file for the log");
    if (use != nullptr) return;  // what it wrote itself stays that
  }
  note(fd, Use::kRead);
}

void note_written(int fd) {
  note(fd, Use::kWritten);
}

void note_appended(int fd) {
  note(fd, Use::kAppended);
}

void refuse_protected(const fs::path& target) {
  refuse_precious(target);
  refuse_used(target);
}

}  // namespace isobit

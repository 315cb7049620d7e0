#include "base/protected_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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
  std::vector<fs::path> outputs;
  bool appended_was_read = false;
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

bool begins_with(const fs::path& path, std::string_view expected) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;  // a pipe would have to be waited for
  std::ifstream file(path, std::ios::binary);
  std::string begin(expected.size(), '\0');
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == expected;
}

bool begins_like_a_store(const fs::path& path) {
  return begins_with(path, "SQLite format 3");
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

// The names of what a checkpoint's folder holds beside its weights.
constexpr std::string_view kCheckpointParts[] = {"config.json",
                                                 "generation_config.json",
                                                 "model.safetensors.index.json",
                                                 "tokenizer.json",
                                                 "tokenizer_config.json",
                                                 "special_tokens_map.json",
                                                 "added_tokens.json",
                                                 "chat_template.json",
                                                 "tokenizer.model",
                                                 "vocab.json",
                                                 "merges.txt"};

bool is_weights(const fs::path& path) {
  return path.extension() == ".safetensors";
}

bool lies_beside_weights(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_weights(at->path())) return true;
  }
  return false;
}

bool belongs_to_a_checkpoint(const fs::path& path) {
  std::error_code ignored;
  if (is_weights(path) && fs::exists(path, ignored)) return true;
  if (begins_with(path, "GGUF")) return true;
  const std::string name = path.filename().string();
  const bool has_part_name =
      std::ranges::find(kCheckpointParts, name) != std::end(kCheckpointParts) ||
      path.extension() == ".jinja";
  return has_part_name && lies_beside_weights(path);
}

void refuse_precious(const fs::path& target) {
  const char* what = begins_like_a_store(target)         ? "a store"
                     : begins_with(target, "-----BEGIN") ? "a key"
                     : belongs_to_a_store(target)        ? "a part of a store"
                     : belongs_to_a_checkpoint(target)   ? "a part of a checkpoint"
                                                         : nullptr;
  if (what == nullptr) return;
  throw Error(ErrorCode::usage,
              "'" + target.string() + "' is " + what + ", which an output would replace",
              "name another file, or remove that one first");
}

[[noreturn]] void refuse_read(const fs::path& path) {
  throw Error(ErrorCode::usage,
              "'" + path.string() + "' is read by this command, and an output would replace it",
              "name another file for the output");
}

bool is_an_output(const FileUses& all, const struct stat& st) {
  return std::ranges::any_of(all.outputs, [&](const fs::path& path) {
    struct stat of_output {};
    return ::stat(path.c_str(), &of_output) == 0 && of_output.st_dev == st.st_dev &&
           of_output.st_ino == st.st_ino;
  });
}

void refuse_used(const fs::path& target) {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  struct stat st {};
  if (::stat(target.c_str(), &st) != 0) return;
  const Use* use = use_of(all, st);
  if (use == nullptr) return;
  if (*use == Use::kRead) refuse_read(target);
  const char* how = *use == Use::kWritten ? "was just written by this command"
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
  all.outputs.clear();
  all.appended_was_read = false;
}

void note_output(const fs::path& path) {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  if (all.watched) all.outputs.push_back(path);
}

void note_read(int fd, const fs::path& path) {
  {
    FileUses& all = file_uses();
    const std::lock_guard lock(all.mutex);
    struct stat st {};
    if (!all.watched || ::fstat(fd, &st) != 0) return;
    const Use* use = use_of(all, st);
    if (use != nullptr && *use == Use::kAppended) {
      all.appended_was_read = true;
      throw Error(ErrorCode::usage,
                  "'" + path.string() + "' is read by this command, and is what its log goes to",
                  "name another file for the log");
    }
    if (use != nullptr) return;  // what it wrote itself stays that
    if (is_an_output(all, st)) refuse_read(path);
  }
  note(fd, Use::kRead);
}

void note_written(int fd) {
  note(fd, Use::kWritten);
}

void note_appended(int fd) {
  note(fd, Use::kAppended);
}

bool appended_file_was_read() {
  FileUses& all = file_uses();
  const std::lock_guard lock(all.mutex);
  return all.appended_was_read;
}

void refuse_protected(const fs::path& target) {
  refuse_precious(target);
  refuse_used(target);
}

}  // namespace isobit

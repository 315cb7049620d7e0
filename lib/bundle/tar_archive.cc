#include "bundle/tar_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"

namespace isobit {
namespace {

constexpr size_t kBlockBytes = 512;  // POSIX.1 ustar: headers, and what contents are padded to
constexpr size_t kEndBytes = 2 * kBlockBytes;
constexpr size_t kRecordBytes = 20 * kBlockBytes;  // what archivers fill up with zeros
constexpr size_t kMaxNameBytes = 100;
constexpr mode_t kMode = 0644;

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

la_ssize_t append(archive*, void* out, const void* bytes, size_t n_bytes) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), n_bytes);
  return static_cast<la_ssize_t>(n_bytes);
}

void write_member(archive* out, const TarMember& member) {
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), member.name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), kMode);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
  archive_entry_set_mtime(entry.get(), 0, 0);
  ISOBIT_REQUIRE(archive_write_header(out, entry.get()) == ARCHIVE_OK);
  ISOBIT_REQUIRE(archive_write_data(out, member.content.data(), member.content.size()) ==
                 static_cast<la_ssize_t>(member.content.size()));
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what,
              "the bundle was damaged or made by something else; export it again");
}

std::string quoted(const std::string& name) {
  return "member '" + name.substr(0, kMaxNameBytes) + "'";
}

bool leaves_the_archive(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != name.npos) return true;
  return ("/" + name + "/").find("/../") != std::string::npos;
}

const char* kind_words(archive_entry* entry) {
  if (archive_entry_hardlink(entry)) return "a hard link";
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
    case AE_IFDIR:
      return "";
    case AE_IFLNK:
      return "a symbolic link";
    case AE_IFCHR:
    case AE_IFBLK:
      return "a device";
    case AE_IFIFO:
      return "a pipe";
    default:
      return "of an unknown kind";
  }
}

std::string checked_name(archive_entry* entry, const std::string& where) {
  const char* text = archive_entry_pathname(entry);
  if (!text) refuse(where, "a member has a name that cannot be read");
  const std::string name = text;
  if (name.size() > kMaxNameBytes)
    refuse(where, quoted(name) + "... has a name of " + std::to_string(name.size()) + " bytes");
  if (leaves_the_archive(name)) refuse(where, quoted(name) + " names a place outside the bundle");
  const std::string kind = kind_words(entry);
  if (!kind.empty()) refuse(where, quoted(name) + " is " + kind + ", plain files are expected");
  return name;
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == bytes.npos;
}

size_t padded(size_t n_bytes, size_t block_bytes = kBlockBytes) {
  return (n_bytes + block_bytes - 1) / block_bytes * block_bytes;
}

Reader open_tar(std::string_view bytes, const std::string& where) {
  Reader in(archive_read_new(), archive_read_free);
  if (!in) throw std::bad_alloc();
  archive_read_support_format_tar(in.get());
  if (archive_read_open_memory(in.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    refuse(where, std::string("is not a tar archive: ") + archive_error_string(in.get()));
  return in;
}

// The next member's header; null at the end.
archive_entry* next_entry(archive* in, const std::string& where) {
  archive_entry* entry = nullptr;
  const int code = archive_read_next_header(in, &entry);
  if (code == ARCHIVE_EOF) return nullptr;
  if (code != ARCHIVE_OK) {
    const char* reason = archive_error_string(in);
    refuse(where, std::string("cannot be read as a tar archive: ") + (reason ? reason : "damaged"));
  }
  return entry;
}

// What a member holds, of the bytes `after` its header.
std::string_view content_of(archive_entry* entry, std::string_view after,
                            const std::string& where) {
  const std::string name = archive_entry_pathname(entry);
  const la_int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<uint64_t>(size) > after.size()) {
    refuse(where, quoted(name) + " is said to have " + std::to_string(size) + " bytes, but " +
                      std::to_string(after.size()) + " are left");
  }
  const auto n_bytes = static_cast<size_t>(size);
  if (padded(n_bytes) > after.size() || !is_zero(after.substr(n_bytes, padded(n_bytes) - n_bytes)))
    refuse(where, quoted(name) + " is not padded with zeros");
  return after.substr(0, n_bytes);
}

void require_used(std::string folder, const std::vector<TarMember>& members,
                  const std::string& where) {
  if (!folder.ends_with('/')) folder += '/';
  const bool is_used = std::ranges::any_of(
      members, [&](const TarMember& member) { return member.name.starts_with(folder); });
  if (!is_used) refuse(where, quoted(folder) + " is a folder that no member is in");
}

// Two blocks of zeros from `end` on, and either nothing after them or zeros to the record's end.
void require_end(std::string_view bytes, size_t end, const std::string& where) {
  const size_t least = end + kEndBytes, most = padded(least, kRecordBytes);
  if (bytes.size() < least)
    refuse(where, "is truncated: it has " + std::to_string(bytes.size()) + " bytes, expected " +
                      std::to_string(least));
  if (!is_zero(bytes.substr(end)) || bytes.size() > most)
    refuse(where, "has bytes after its last member");
  if (bytes.size() > least && bytes.size() < most)
    refuse(where, "is truncated: it has " + std::to_string(bytes.size()) +
                      " bytes; a record of zeros ends at " + std::to_string(most));
}

}  // namespace

std::string tar_bytes(const std::vector<TarMember>& members) {
  std::string out;
  const Writer writer(archive_write_new(), archive_write_free);
  if (!writer) throw std::bad_alloc();
  archive_write_set_format_ustar(writer.get());
  archive_write_set_bytes_per_block(writer.get(), kBlockBytes);
  archive_write_set_bytes_in_last_block(writer.get(), 1);  // nothing after the end's two blocks
  ISOBIT_REQUIRE(archive_write_open(writer.get(), &out, nullptr, append, nullptr) == ARCHIVE_OK);
  for (size_t i = 0; i < members.size(); ++i) {
    ISOBIT_REQUIRE(members[i].name.size() <= kMaxNameBytes);
    ISOBIT_REQUIRE(i == 0 || members[i - 1].name < members[i].name);
    write_member(writer.get(), members[i]);
  }
  ISOBIT_REQUIRE(archive_write_close(writer.get()) == ARCHIVE_OK);
  return out;
}

std::vector<TarMember> read_tar(std::string_view bytes, const std::string& where) {
  const Reader in = open_tar(bytes, where);
  std::vector<TarMember> out, folders;
  std::set<std::string> names;
  size_t begin = 0;  // of the next header, if nothing lies between the members
  while (archive_entry* entry = next_entry(in.get(), where)) {
    if (static_cast<size_t>(archive_read_header_position(in.get())) != begin)
      refuse(where, "there is more than plain members before byte " + std::to_string(begin));
    const std::string name = checked_name(entry, where);
    if (!names.insert(name).second) refuse(where, quoted(name) + " is there twice");
    const std::string_view content = content_of(entry, bytes.substr(begin + kBlockBytes), where);
    const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
    (is_folder ? folders : out).push_back({name, content});
    begin += kBlockBytes + padded(content.size());
  }
  require_end(bytes, begin, where);
  for (const TarMember& folder : folders) require_used(folder.name, out, where);
  return out;
}

}  // namespace isobit

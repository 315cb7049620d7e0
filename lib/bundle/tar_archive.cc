#include "bundle/tar_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace isobit {
namespace {

constexpr size_t kBlockBytes = 512;  // POSIX.1 ustar: headers, and what contents are padded to
constexpr size_t kEndBytes = 2 * kBlockBytes;
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
      return "";
    case AE_IFLNK:
      return "a symbolic link";
    case AE_IFDIR:
      return "a folder";
    case AE_IFCHR:
    case AE_IFBLK:
      return "a device";
    case AE_IFIFO:
      return "a pipe";
    default:
      return "of an unknown kind";
  }
}

bool is_anonymous(archive_entry* entry) {
  const auto empty = [](const char* text) { return !text || !*text; };
  return archive_entry_mtime(entry) == 0 && archive_entry_uid(entry) == 0 &&
         archive_entry_gid(entry) == 0 && archive_entry_perm(entry) == kMode &&
         empty(archive_entry_uname(entry)) && empty(archive_entry_gname(entry));
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
  if (!is_anonymous(entry))
    refuse(where, quoted(name) + " has a time, an owner or a mode of its own; none is expected");
  return name;
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == bytes.npos;
}

size_t padded(size_t n_bytes) {
  return (n_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
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
  std::vector<TarMember> out;
  size_t begin = 0;  // of the next header, if nothing lies between the members
  while (archive_entry* entry = next_entry(in.get(), where)) {
    if (static_cast<size_t>(archive_read_header_position(in.get())) != begin)
      refuse(where, "there is more than plain members before byte " + std::to_string(begin));
    const std::string name = checked_name(entry, where);
    if (!out.empty() && out.back().name >= name)
      refuse(where, quoted(name) + " is out of order, or there twice");
    const size_t content = begin + kBlockBytes;
    const la_int64_t size = archive_entry_size(entry);
    const size_t left = bytes.size() - std::min(content, bytes.size());
    if (size < 0 || static_cast<uint64_t>(size) > left) {
      refuse(where, quoted(name) + " is said to have " + std::to_string(size) + " bytes, but " +
                        std::to_string(left) + " are left");
    }
    begin = content + padded(static_cast<size_t>(size));
    out.push_back({name, bytes.substr(content, static_cast<size_t>(size))});
    if (begin > bytes.size() || !is_zero(bytes.substr(content + out.back().content.size(),
                                                      begin - content - out.back().content.size())))
      refuse(where, quoted(name) + " is not padded with zeros");
  }
  if (bytes.size() < begin + kEndBytes)
    refuse(where, "is truncated: it has " + std::to_string(bytes.size()) + " bytes, expected " +
                      std::to_string(begin + kEndBytes));
  if (bytes.size() > begin + kEndBytes || !is_zero(bytes.substr(begin)))
    refuse(where, "has bytes after its last member");
  return out;
}

}  // namespace isobit

// Files: whole reads, read-only maps, and writes that are either complete or absent.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace isobit {

// Throws Error(environment) with the path and the system's reason. Refuses files over `max_bytes`.
std::string read_file(const std::filesystem::path& path, size_t max_bytes = size_t{1} << 30);

// What write_file_atomically throws of a name that it would not write: Error(environment) for a
// folder or a device, Error(usage) for what no output may replace (base/protected_files.h).
void require_replaceable(const std::filesystem::path& path);

// Writes a temporary file beside `path`, syncs it, renames it over `path`. On failure `path` is
// untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// A read-only private mapping of a regular file. Empty files map to an empty range.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::byte* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  std::span<const std::byte> bytes() const { return {data_, size_bytes_}; }
  const std::filesystem::path& path() const { return path_; }

  // Tells the kernel that the pages wholly inside [offset, offset + n) are no longer needed in
  // memory; they are read again from the file if touched.
  void release_pages(size_t offset_bytes, size_t n_bytes) const;

 private:
  std::filesystem::path path_;
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace isobit

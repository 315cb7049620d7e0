#include "checkpoint/mapped_checkpoint.h"

#include "base/error.h"

namespace isobit {

const MappedFile& MappedCheckpoint::map(const std::filesystem::path& path,
                                        const std::string& name) {
  const MappedFile& file = mapped_.emplace_back(path);
  files_.push_back({name, {file.data(), file.size_bytes()}});
  return file;
}

void MappedCheckpoint::release(std::span<const std::byte> bytes) const {
  for (const MappedFile& file : mapped_) {
    // Compared as integers: pointers into different mappings have no order.
    const auto begin = reinterpret_cast<uintptr_t>(file.data()),
               at = reinterpret_cast<uintptr_t>(bytes.data());
    if (at >= begin && at - begin + bytes.size() <= file.size_bytes()) {
      file.release_pages(at - begin, bytes.size());
      return;
    }
  }
  ISOBIT_REQUIRE(bytes.empty());
}

}  // namespace isobit

// What both file formats share: a checkpoint whose tensors are views into mapped files.
#pragma once

#include <deque>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/checkpoint.h"

namespace isobit {

// Gives back the pages of `bytes`, which lie in one of `files` (a container of MappedFile).
template <class Files>
void release_pages(const Files& files, std::span<const std::byte> bytes) {
  for (const MappedFile& file : files) {
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

class MappedCheckpoint : public Checkpoint {
 public:
  void release(const TensorView& tensor) const override { release(tensor.bytes); }
  void release(std::span<const std::byte> file_bytes) const override {
    release_pages(mapped_, file_bytes);
  }

 protected:
  // Maps a file and lists it in files(), which stays sorted when files are added in the order of
  // their names.
  const MappedFile& map(const std::filesystem::path& path, const std::string& name);

 private:
  std::deque<MappedFile> mapped_;
};

}  // namespace isobit

// What both file formats share: a checkpoint whose tensors are views into mapped files.
#pragma once

#include <deque>
#include <filesystem>

#include "base/file.h"
#include "checkpoint/checkpoint.h"

namespace isobit {

class MappedCheckpoint : public Checkpoint {
 public:
  void release(const TensorView& tensor) const override { release(tensor.bytes); }
  void release(std::span<const std::byte> file_bytes) const override;

 protected:
  // Maps a file and lists it in files(), which stays sorted when files are added in the order of
  // their names.
  const MappedFile& map(const std::filesystem::path& path, const std::string& name);

 private:
  std::deque<MappedFile> mapped_;
};

}  // namespace isobit

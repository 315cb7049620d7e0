#include "checkpoint/mapped_checkpoint.h"

namespace isobit {

const MappedFile& MappedCheckpoint::map(const std::filesystem::path& path,
                                        const std::string& name) {
  const MappedFile& file = mapped_.emplace_back(path);
  files_.push_back({name, {file.data(), file.size_bytes()}});
  return file;
}

}  // namespace isobit

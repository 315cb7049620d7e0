// A GGUF in several files: NAME-00001-of-00003.gguf and so on, as llama.cpp's llama-gguf-split
// writes them.
//
// The first has the model's metadata. Each says which it is (split.no, from 0, where the names
// count from 1), how many there are (split.count) and how many tensors they have together
// (split.tensors.count). All of it must agree with the names and with what the files hold: a file
// that is missing, there twice or of another model is refused by its name, never left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/gguf.h"

namespace isobit {

struct GgufSplit {
  std::string name;     // of the files, before "-00001-of-00003.gguf"
  uint64_t number = 0;  // from 0
  uint64_t n_files = 0;
  uint64_t n_tensors = 0;  // of all files
};

// What `header`, read from `path`, says about itself; nothing for a whole GGUF. Throws
// Error(environment) when its name does not fit.
std::optional<GgufSplit> read_gguf_split(const GgufHeader& header,
                                         const std::filesystem::path& path,
                                         const std::string& where);

// Maps every file of the split that lies in `folder` into `files` and gives the header that the
// whole would have: the first one's metadata, all tensors in the order of the files. Throws
// Error(environment).
GgufHeader open_gguf_split(const GgufSplit& split, const std::filesystem::path& folder,
                           std::vector<MappedFile>& files);

}  // namespace isobit

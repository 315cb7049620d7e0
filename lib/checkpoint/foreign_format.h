// Files of models in formats that isobit does not read, by their names: what each is, and the way
// out.
//
// Most of them are what somebody really has on disk. "not a GGUF file" would be true of all and
// help with none; and of PyTorch's files it should be said why they are not read: they are pickles,
// and to load one is to run the program in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace isobit {

struct ForeignFormat {
  std::string what;  // "PyTorch weights are pickles, and ..."
  std::string hint;  // what to do instead
};

// What the name of a file says; nothing for safetensors, GGUF and what is not known.
std::optional<ForeignFormat> foreign_format(std::string_view file_name);

// The first file of `folder`, in the order of the table in foreign_format.cc, that explains why
// there is no checkpoint in it.
struct ForeignFile {
  std::string name;
  ForeignFormat format;
};
std::optional<ForeignFile> find_foreign_file(const std::filesystem::path& folder);

}  // namespace isobit

#include "checkpoint/open.h"

#include <fstream>

#include "checkpoint/foreign_format.h"
#include "checkpoint/gguf_checkpoint.h"
#include "checkpoint/refusal.h"
#include "checkpoint/safetensors_checkpoint.h"

namespace isobit {
namespace {

// A GGUF under any name is one.
bool begins_as_gguf(const std::filesystem::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "GGUF";
}

std::unique_ptr<Checkpoint> open_existing(const std::filesystem::path& path,
                                          const std::string& where) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    const bool missing = !error || error == std::errc::no_such_file_or_directory;
    refuse(where, missing ? "no such file or folder" : error.message());
  }
  if (std::filesystem::is_directory(status)) return open_safetensors_checkpoint(path);
  const std::optional<ForeignFormat> format = foreign_format(path.filename().string());
  if (format && !begins_as_gguf(path)) refuse(where, format->what, format->hint);
  if (path.extension() == ".safetensors") {
    refuse(where, "one file of a checkpoint", "give the folder that holds it and config.json");
  }
  return open_gguf_checkpoint(path);
}

}  // namespace

std::unique_ptr<Checkpoint> open_checkpoint(const std::filesystem::path& path) {
  const std::string where = "checkpoint '" + path.string() + "'";
  try {
    return open_existing(path, where);
  } catch (const std::filesystem::filesystem_error& e) {  // a folder that may not be listed
    refuse(where, e.code().message());
  }
}

void require_computable(const Checkpoint& checkpoint) {
  for (const auto& [tensor_name, view] : checkpoint.tensors()) {
    if (!engine_reads(view.dtype)) {
      refuse("checkpoint '" + checkpoint.path() + "'",
             "tensor " + shown(tensor_name) + " is stored as " + std::string(name(view.dtype)) +
                 ", which the engine cannot compute with",
             "convert it to F32, F16, BF16, Q8_0 or a K-quant");
    }
  }
}

}  // namespace isobit

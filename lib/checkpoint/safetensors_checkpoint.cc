#include "checkpoint/safetensors_checkpoint.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/checkpoint_json.h"
#include "checkpoint/foreign_format.h"
#include "checkpoint/fp8_scales.h"
#include "checkpoint/hf_config.h"
#include "checkpoint/mapped_checkpoint.h"
#include "checkpoint/model_tensors.h"
#include "checkpoint/refusal.h"
#include "checkpoint/safetensors.h"

namespace isobit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr size_t kMaxJsonBytes = size_t{64} << 20;

bool has_file(const fs::path& folder, const char* name) {
  std::error_code error;
  return fs::exists(fs::symlink_status(folder / name, error));
}

Json read_json(const fs::path& folder, const char* name, const std::string& where) {
  return parse_checkpoint_json(read_file(file_of(folder, name, where), kMaxJsonBytes),
                               where + ": " + name);
}

void check_shard_name(const std::string& name, const std::string& where) {
  const bool plain = !name.empty() &&
                     name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos &&
                     name[0] != '.' && name.ends_with(".safetensors");
  if (!plain) {
    refuse(where,
           "weight_map names the file " + shown(name) +
               ", expected a plain name ending in .safetensors",
           "an index may only name files of its own folder");
  }
}

struct ShardIndex {
  std::map<std::string, std::string> file_of_tensor;
  std::set<std::string> files;
  std::optional<uint64_t> total_bytes;
};

ShardIndex read_index(const fs::path& folder, const std::string& checkpoint) {
  const Json json = read_json(folder, kIndexFile, checkpoint);
  const std::string where = checkpoint + ": " + kIndexFile;
  if (!json.contains("weight_map") || !json["weight_map"].is_object())
    refuse(where, "no object weight_map");
  ShardIndex index;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string())
      refuse(where, "weight_map entry " + shown(tensor) + " is not a file name");
    check_shard_name(file.get<std::string>(), where);
    index.file_of_tensor.emplace(tensor, file.get<std::string>());
    index.files.insert(file.get<std::string>());
  }
  if (index.files.empty()) refuse(where, "weight_map is empty");
  if (json.contains("metadata") && json["metadata"].is_object() &&
      json["metadata"].contains("total_size")) {
    const Json& total = json["metadata"]["total_size"];
    if (total.is_number_unsigned()) index.total_bytes = total.get<uint64_t>();
  }
  return index;
}

class SafetensorsCheckpoint final : public MappedCheckpoint {
 public:
  explicit SafetensorsCheckpoint(const fs::path& folder)
      : folder_(folder), where_("checkpoint '" + folder.string() + "'") {
    path_ = folder.string();
    format_ = "safetensors";
    read_configuration();
    map_tensors();
    attach_fp8_scales(json_, tensors_, where_);
    check_tensors(config_, tensors_, where_);
  }

 private:
  void read_configuration() {
    if (!has_file(folder_, "config.json")) refuse_folder("no config.json");
    json_ = read_json(folder_, "config.json", where_);
    config_ = read_hf_config(json_, where_ + ": config.json");
    stored_config_ = canonical_json(json_);
    if (has_file(folder_, "generation_config.json")) {
      const Json generation = read_json(folder_, "generation_config.json", where_);
      merge_generation_config(generation, config_, where_ + ": generation_config.json");
      stored_generation_config_ = canonical_json(generation);
    }
    check_sizes(config_, where_ + ": config.json");
  }

  // A folder without what makes it a checkpoint is one of something else more often than empty.
  [[noreturn]] void refuse_folder(const std::string& what) const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".gguf")
        refuse(where_, what, "the folder holds '" + name + "': give that file");
    }
    if (const std::optional<ForeignFile> file = find_foreign_file(folder_))
      refuse(where_, what + ", but " + shown(file->name) + ": " + file->format.what,
             file->format.hint);
    refuse(where_, what, "give the folder of a Hugging Face checkpoint, or a .gguf file");
  }

  void map_tensors() {
    std::set<std::string> files;
    if (has_file(folder_, kIndexFile)) {
      const ShardIndex index = read_index(folder_, where_);
      if (has_file(folder_, kSingleFile) && !index.files.contains(kSingleFile)) {
        refuse(where_, "both model.safetensors and an index of other files are there",
               "remove the one that is stale");
      }
      for (const std::string& file : index.files) add_file(file, &index);
      check_complete(index);
      files = index.files;
    } else {
      if (!has_file(folder_, kSingleFile))
        refuse_folder("neither model.safetensors nor model.safetensors.index.json");
      add_file(kSingleFile, nullptr);
      files.insert(kSingleFile);
    }
    report_strays(files);
  }

  void add_file(const std::string& name, const ShardIndex* index) {
    const std::string at = where_ + ": " + name;
    const MappedFile& file = map(file_of(folder_, name, where_), name);
    const std::span<const std::byte> bytes(file.data(), file.size_bytes());
    for (const StoredTensor& tensor : parse_safetensors(bytes, at).tensors) {
      if (index) check_mapped_here(tensor.name, name, *index, at);
      TensorView view = view_of(tensor, bytes, at);
      view.name = text_model_name(tensor.name);
      if (!tensors_.emplace(view.name, view).second)
        refuse(at, "holds tensor " + shown(view.name) + " under two names");
    }
  }

  // Models with more than text wrap the text model: "language_model.model.norm.weight", or since
  // transformers 5 "model.language_model.norm.weight", is "model.norm.weight".
  std::string text_model_name(const std::string& stored) const {
    if (config_.ignored_prefixes.empty()) return stored;
    static constexpr std::string_view kOuter = "language_model.", kInner = "model.language_model.";
    if (stored.starts_with(kInner)) return "model." + stored.substr(kInner.size());
    if (stored.starts_with(kOuter)) return stored.substr(kOuter.size());
    return stored;
  }

  static void check_mapped_here(const std::string& tensor, const std::string& file,
                                const ShardIndex& index, const std::string& at) {
    const auto it = index.file_of_tensor.find(tensor);
    if (it == index.file_of_tensor.end())
      refuse(at, "holds tensor " + shown(tensor) + ", which the index does not name");
    if (it->second != file)
      refuse(at,
             "holds tensor " + shown(tensor) + ", which the index maps to " + shown(it->second));
  }

  void check_complete(const ShardIndex& index) {
    uint64_t total = 0;
    for (const auto& [tensor, file] : index.file_of_tensor) {
      const auto it = tensors_.find(text_model_name(tensor));
      if (it == tensors_.end())
        refuse(where_ + ": " + file, "no tensor " + shown(tensor) + ", which the index maps to it");
      total += it->second.bytes.size();
    }
    if (index.total_bytes && *index.total_bytes != total) {
      warnings_.push_back(std::string(kIndexFile) + ": total_size is " +
                          std::to_string(*index.total_bytes) + ", but the tensors have " +
                          std::to_string(total) + " bytes");
    }
  }

  void report_strays(const std::set<std::string>& files) {
    std::set<std::string> strays;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".safetensors" && !files.contains(name)) strays.insert(name);
    }
    for (const std::string& name : strays)
      warnings_.push_back(shown(name) + " is in the folder but not part of the checkpoint");
  }

  fs::path folder_;
  std::string where_;
  Json json_;  // config.json
};

}  // namespace

std::unique_ptr<Checkpoint> open_safetensors_checkpoint(const fs::path& folder) {
  return std::make_unique<SafetensorsCheckpoint>(folder);
}

}  // namespace isobit

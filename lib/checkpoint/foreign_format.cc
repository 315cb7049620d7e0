#include "checkpoint/foreign_format.h"

#include <algorithm>
#include <set>

namespace isobit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPickle =
    "PyTorch weights are pickles: loading one runs the program that is stored in it, so they are "
    "not read";
constexpr const char* kConvertFolder =
    "where you trust it, convert it: python3 -c \"from transformers import AutoModelForCausalLM as "
    "M; M.from_pretrained('FOLDER', dtype='auto').save_pretrained('NEW')\" writes "
    "model.safetensors";
constexpr const char* kAdapter =
    "a LoRA adapter changes a base model and is none by itself, so it is not read";
constexpr const char* kMergeAdapter =
    "merge it into its base model (peft: model.merge_and_unload().save_pretrained('NEW')) and give "
    "that folder";
constexpr const char* kMistralNames =
    "these are weights under Mistral's own names, with params.json in place of config.json, and "
    "not a Hugging Face checkpoint";
constexpr const char* kMetaNames =
    "these are Meta's original weights, which are pickles: loading one runs the program that is "
    "stored in it, so they are not read";
constexpr const char* kUseHubFolder =
    "give the model's Hugging Face folder: config.json with model.safetensors or its shards";
constexpr const char* kConvertMeta =
    "where you trust them, convert them with transformers' convert_llama_weights_to_hf.py";
constexpr const char* kOnnx =
    "an ONNX graph has its own operators in place of a model's layers, so it is not read";
constexpr const char* kOtherFramework =
    "weights of another framework are not read; only safetensors and GGUF are";

enum class Match { kWhole, kStart, kEnd };

struct Known {
  Match match;
  std::string_view text;
  const char* what;
  const char* hint;
};

// The telling names first: an adapter's folder may also hold a training state in .bin files.
constexpr Known kKnown[] = {
    {Match::kWhole, "adapter_model.safetensors", kAdapter, kMergeAdapter},
    {Match::kWhole, "adapter_model.bin", kAdapter, kMergeAdapter},
    {Match::kWhole, "adapter_config.json", kAdapter, kMergeAdapter},
    {Match::kWhole, "consolidated.safetensors", kMistralNames, kUseHubFolder},
    {Match::kWhole, "consolidated.safetensors.index.json", kMistralNames, kUseHubFolder},
    {Match::kStart, "consolidated-0", kMistralNames, kUseHubFolder},
    {Match::kStart, "consolidated.0", kMetaNames, kConvertMeta},
    {Match::kWhole, "pytorch_model.bin.index.json", kPickle, kConvertFolder},
    {Match::kEnd, ".bin", kPickle, kConvertFolder},
    {Match::kEnd, ".pt", kPickle, kConvertFolder},
    {Match::kEnd, ".pth", kPickle, kConvertFolder},
    {Match::kEnd, ".ckpt", kPickle, kConvertFolder},
    {Match::kEnd, ".pkl", kPickle, kConvertFolder},
    {Match::kEnd, ".onnx", kOnnx, kUseHubFolder},
    {Match::kEnd, ".h5", kOtherFramework, kUseHubFolder},
    {Match::kEnd, ".msgpack", kOtherFramework, kUseHubFolder},
    {Match::kEnd, ".npz", kOtherFramework, kUseHubFolder},
};

bool matches(const Known& known, std::string_view name) {
  switch (known.match) {
    case Match::kWhole:
      return name == known.text;
    case Match::kStart:
      return name.starts_with(known.text);
    case Match::kEnd:
      return name.ends_with(known.text);
  }
  return false;
}

}  // namespace

std::optional<ForeignFormat> foreign_format(std::string_view file_name) {
  for (const Known& known : kKnown) {
    if (matches(known, file_name)) return ForeignFormat{known.what, known.hint};
  }
  return std::nullopt;
}

std::optional<ForeignFile> find_foreign_file(const fs::path& folder) {
  std::set<std::string> names;  // in an order that does not depend on the file system
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  for (const Known& known : kKnown) {
    const auto it = std::find_if(names.begin(), names.end(),
                                 [&](const std::string& name) { return matches(known, name); });
    if (it != names.end()) return ForeignFile{*it, {known.what, known.hint}};
  }
  return std::nullopt;
}

}  // namespace isobit

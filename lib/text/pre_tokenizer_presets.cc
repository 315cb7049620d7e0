// The pre-tokenizers that a GGUF names by `tokenizer.ggml.pre`, each as the tokenizer.json of its
// model family has it.
//
// llama.cpp rewrites some of these patterns for its own matcher. Where that changes a result (the
// long s in "'ſ", NFC for Qwen2) the model's own tokenizer decides here, because that is what the
// model was trained with.
#include "base/error.h"
#include "text/pre_tokenizer.h"

namespace isobit {
namespace {

constexpr const char* kLlama3Pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kQwen2Pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kDefaultPunctuation = "[\\p{P}\\$\\+<=>\\^~\\|]+";

PreTokenizerPreset gpt2() {
  PreTokenizerPreset preset;
  preset.pre_tokenizer = PreTokenizer({byte_level_split(false, true)});
  return preset;
}

PreTokenizerPreset digits_then_gpt2() {
  PreTokenizerPreset preset;
  preset.pre_tokenizer =
      PreTokenizer({DigitsSplit{.individual = true}, byte_level_split(false, true)});
  return preset;
}

PreTokenizerPreset one_pattern(const char* pattern) {
  PreTokenizerPreset preset;
  preset.pre_tokenizer =
      PreTokenizer({regex_split(pattern, SplitBehaviour::kIsolated, false, "preset"),
                    byte_level_split(false, false)});
  return preset;
}

PreTokenizerPreset llama_bpe() {
  PreTokenizerPreset preset = one_pattern(kLlama3Pattern);
  preset.ignore_merges = true;
  preset.add_bos_by_default = true;
  return preset;
}

PreTokenizerPreset qwen2() {
  PreTokenizerPreset preset = one_pattern(kQwen2Pattern);
  preset.nfc = true;
  return preset;
}

// What llama.cpp does for a file whose converter did not know the model.
PreTokenizerPreset converter_default() {
  const auto isolated = [](const char* pattern) {
    return regex_split(pattern, SplitBehaviour::kIsolated, false, "preset");
  };
  PreTokenizerPreset preset;
  preset.pre_tokenizer = PreTokenizer(
      {isolated(kDefaultPunctuation),
       isolated("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"),
       isolated("\\p{N}+"), isolated("[0-9][0-9][0-9]"), byte_level_split(false, false)});
  return preset;
}

struct Entry {
  const char* name;
  PreTokenizerPreset (*make)();
};
constexpr Entry kPresets[] = {
    {"smollm", digits_then_gpt2},
    {"starcoder", digits_then_gpt2},
    {"refact", digits_then_gpt2},
    {"llama-bpe", llama_bpe},
    {"llama3", llama_bpe},
    {"llama-v3", llama_bpe},
    {"qwen2", qwen2},
    {"deepseek-r1-qwen", qwen2},
    {"gpt-2", gpt2},
    {"phi-2", gpt2},
    {"mpt", gpt2},
    {"default", converter_default},
};

}  // namespace

PreTokenizerPreset pre_tokenizer_preset(const std::string& name, const std::string& where) {
  if (name.empty()) {
    throw Error(ErrorCode::environment,
                where + ": tokenizer.ggml.pre is missing, so how text is split is not known",
                "files from converters before May 2024 lack it; convert the model again");
  }
  std::vector<std::string> known;
  for (const Entry& entry : kPresets) {
    if (name == entry.name) return entry.make();
    known.emplace_back(entry.name);
  }
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  throw Error(ErrorCode::environment,
              where + ": unknown tokenizer.ggml.pre \"" + name + "\"" + did_you_mean(name, known),
              "known: " + list);
}

}  // namespace isobit

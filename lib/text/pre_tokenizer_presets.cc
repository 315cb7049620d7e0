// The pre-tokenizers that a GGUF names by `tokenizer.ggml.pre`, each as the tokenizer.json of its
// model family has it, as far as llama.cpp's notes quote it; elsewhere as llama.cpp has it.
//
// llama.cpp rewrites some of these patterns for its own matcher. Where that changes a result the
// model's own tokenizer decides here, because that is what the model was trained with:
//   - (?i:'s) matches the long s in "'ſ"; llama.cpp lists cases of ASCII letters;
//   - Qwen2 and command-r compose text (NFC); llama.cpp does not. Nor is qwen35 composed here: the
//     ids that ship with its test vocabulary are those of text as it stands;
//   - Falcon's last stages see the byte alphabet, where "²" is three digits' worth of trouble;
//     llama.cpp cuts ASCII digits in threes;
//   - gpt-4o, llama4 and tekken tell upper from lower case in every script; llama.cpp in ASCII;
//   - tiny_aya groups digits from the right only where no letter follows; llama.cpp everywhere;
//   - kimi-k2 counts combining marks among letters; llama.cpp does not.
#include "base/error.h"
#include "text/pre_tokenizer.h"

namespace isobit {
namespace {

#define ISOBIT_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define ISOBIT_WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define ISOBIT_SYMBOLS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define ISOBIT_SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define ISOBIT_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define ISOBIT_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define ISOBIT_CASED(after)                                        \
  "[^\\r\\n\\p{L}\\p{N}]?" ISOBIT_UPPER "*" ISOBIT_LOWER "+" after \
  "|[^\\r\\n\\p{L}\\p{N}]?" ISOBIT_UPPER "+" ISOBIT_LOWER "*" after

constexpr const char* kLlama3Pattern =
    ISOBIT_CONTRACTIONS "|" ISOBIT_WORD "|\\p{N}{1,3}|" ISOBIT_SYMBOLS "|" ISOBIT_SPACES;
constexpr const char* kQwen2Pattern =
    ISOBIT_CONTRACTIONS "|" ISOBIT_WORD "|\\p{N}|" ISOBIT_SYMBOLS "|" ISOBIT_SPACES;
constexpr const char* kQwen35Pattern = ISOBIT_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| "
    "?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" ISOBIT_SPACES;
constexpr const char* kMinicpm5Pattern =
    ISOBIT_CONTRACTIONS "|" ISOBIT_WORD "|\\p{N}+|" ISOBIT_SYMBOLS "|" ISOBIT_SPACES;
constexpr const char* kUfakzekaPattern = ISOBIT_WORD "|\\p{N}|" ISOBIT_SYMBOLS "|" ISOBIT_SPACES;
constexpr const char* kBailingPattern =
    "'(?i:[sdmt]|ll|ve|re)|" ISOBIT_WORD "|\\p{N}|" ISOBIT_SYMBOLS "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";
constexpr const char* kSeedCoderPattern =
    ISOBIT_CONTRACTIONS "|" ISOBIT_WORD "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" ISOBIT_SPACES;
constexpr const char* kExaoneMoePattern = ISOBIT_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";
constexpr const char* kJais2Pattern = ISOBIT_CONTRACTIONS
    "|" ISOBIT_WORD "|\\p{N}{1,3}|" ISOBIT_SYMBOLS
    "|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|"
    "\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}";
constexpr const char* kGpt4oPattern = ISOBIT_CASED(
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?") "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" ISOBIT_SPACES;
constexpr const char* kYoutuPattern = ISOBIT_CASED(
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" ISOBIT_SPACES;
constexpr const char* kTekkenPattern =
    ISOBIT_CASED("") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" ISOBIT_SPACES;
// Letters other than Han; runs of Han are words of their own.
constexpr const char* kKimiK2Pattern =
    "\\p{Han}+|"
    "[^\\r\\n\\p{L}\\p{N}]?(?:(?!\\p{Han})" ISOBIT_UPPER ")*(?:(?!\\p{Han})" ISOBIT_LOWER
    ")+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?(?:(?!\\p{Han})" ISOBIT_UPPER ")+(?:(?!\\p{Han})" ISOBIT_LOWER
    ")*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "\\p{N}{1,3}|" ISOBIT_SYMBOLS "|" ISOBIT_SPACES;
constexpr const char* kGpt2WithoutSpaces =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";

constexpr const char* kHanAndKana = "[一-龥぀-ゟ゠-ヿ]+";
constexpr const char* kDeepseek3Words =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}"
    "\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" ISOBIT_SPACES;
constexpr const char* kSparkWords =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}"
    "\\p{M}]+| ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+";
constexpr const char* kDeepseekLlmLetters =
    "\\s?[A-Za-z\\x{00B5}\\x{00C0}-\\x{00D6}\\x{00D8}-\\x{00F6}\\x{00F8}-\\x{01BA}"
    "\\x{01BC}-\\x{01BF}\\x{01C4}-\\x{0293}\\x{0295}-\\x{02AF}\\x{0370}-\\x{0373}\\x{0376}"
    "\\x{0377}\\x{037B}-\\x{037D}\\x{037F}\\x{0386}\\x{0388}-\\x{038A}\\x{038C}"
    "\\x{038E}-\\x{03A1}\\x{03A3}-\\x{03F5}\\x{03F7}-\\x{0481}\\x{048A}-\\x{052F}"
    "\\x{0531}-\\x{0556}\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}"
    "\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}"
    "\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}"
    "\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}"
    "\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}"
    "\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}"
    "\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}"
    "\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}"
    "\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}"
    "\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}"
    "\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}"
    "\\x{AB70}-\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}"
    "\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}"
    "\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}]+";
constexpr const char* kDeepseekHan = "[一-龥ࠀ-一가-퟿]+";
constexpr const char* kSoutheastAsian =
    "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-"
    "꧿가-"
    "힯ᄀ-"
    "ᇿ]"
    "+";
constexpr const char* kBloomWords = " ?[^(\\s|.,!?…。，、।۔،)]+";

PreTokenizerStage isolated(const char* pattern) {
  return regex_split(pattern, SplitBehaviour::kIsolated, false, "preset");
}
PreTokenizerStage digits() {
  return DigitsSplit{.individual = true};
}
PreTokenizerStage groups(DigitGroups kind) {
  return DigitGroupSplit{.groups = kind};
}
PreTokenizerStage gpt2_stage() {
  return byte_level_split(false, true);
}
PreTokenizerStage bytes() {
  return byte_level_split(false, false);
}

PreTokenizerPreset staged(std::vector<PreTokenizerStage> stages) {
  PreTokenizerPreset preset;
  preset.pre_tokenizer = PreTokenizer(std::move(stages));
  return preset;
}
PreTokenizerPreset one_pattern(const char* pattern) {
  return staged({isolated(pattern), bytes()});
}
PreTokenizerPreset composed(PreTokenizerPreset preset) {
  preset.nfc = true;
  return preset;
}
PreTokenizerPreset whole_tokens(PreTokenizerPreset preset) {
  preset.ignore_merges = true;
  return preset;
}
PreTokenizerPreset with_bos(PreTokenizerPreset preset) {
  preset.add_bos_by_default = true;
  return preset;
}

PreTokenizerPreset gpt2() {
  return staged({gpt2_stage()});
}
PreTokenizerPreset digits_then_gpt2() {
  return staged({digits(), gpt2_stage()});
}
PreTokenizerPreset llama3() {
  return one_pattern(kLlama3Pattern);
}
PreTokenizerPreset llama3_whole() {
  return whole_tokens(llama3());
}
PreTokenizerPreset llama_bpe() {
  return with_bos(llama3_whole());
}
PreTokenizerPreset qwen2() {
  return composed(one_pattern(kQwen2Pattern));
}
PreTokenizerPreset qwen2_uncomposed() {
  return one_pattern(kQwen2Pattern);
}
PreTokenizerPreset qwen35() {
  return one_pattern(kQwen35Pattern);
}
PreTokenizerPreset command_r() {
  return composed(digits_then_gpt2());
}
PreTokenizerPreset jais2() {
  return one_pattern(kJais2Pattern);
}
PreTokenizerPreset gpt4o() {
  return one_pattern(kGpt4oPattern);
}
PreTokenizerPreset gpt4o_whole() {
  return whole_tokens(gpt4o());
}
PreTokenizerPreset tekken() {
  return with_bos(whole_tokens(one_pattern(kTekkenPattern)));
}
PreTokenizerPreset ufakzeka() {
  return one_pattern(kUfakzekaPattern);
}
PreTokenizerPreset bailing() {
  return one_pattern(kBailingPattern);
}
PreTokenizerPreset seed_coder() {
  return one_pattern(kSeedCoderPattern);
}
PreTokenizerPreset exaone_moe() {
  return one_pattern(kExaoneMoePattern);
}
PreTokenizerPreset kimi_k2() {
  return one_pattern(kKimiK2Pattern);
}
PreTokenizerPreset bloom() {
  return one_pattern(kBloomWords);
}
PreTokenizerPreset viking() {
  return staged({isolated(kBloomWords), digits(), bytes()});
}
PreTokenizerPreset laguna() {
  return staged({isolated("[^\\n]+|[\\n]+"), isolated(kQwen2Pattern), bytes()});
}
PreTokenizerPreset minicpm5() {
  return whole_tokens(staged({isolated("\\p{N}{1,3}"), isolated(kMinicpm5Pattern), bytes()}));
}
PreTokenizerPreset tiny_aya() {
  return staged({groups(DigitGroups::kOfDigitsAtWordEnd), isolated(kGpt4oPattern), bytes()});
}
PreTokenizerPreset superbpe() {
  return staged({isolated("\\p{N}+"), groups(DigitGroups::kCutBefore), bytes()});
}
PreTokenizerPreset afmoe() {
  return staged({groups(DigitGroups::kOfNumbers), isolated(kSoutheastAsian),
                 isolated(kDeepseek3Words), bytes()});
}
PreTokenizerPreset youtu() {
  return whole_tokens(staged(
      {isolated("[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-"
                "龥぀-ゟ゠-ヿ]+"),
       isolated(kYoutuPattern), bytes()}));
}
PreTokenizerPreset deepseek3() {
  return staged(
      {isolated("\\p{N}{1,3}"), isolated(kHanAndKana), isolated(kDeepseek3Words), bytes()});
}
PreTokenizerPreset spark() {
  return staged(
      {isolated("\\p{N}{1,3}"), isolated(kHanAndKana), isolated(kSparkWords), digits(), bytes()});
}
PreTokenizerPreset deepseek_llm() {
  return staged({isolated("[\\r\\n]"), isolated(kDeepseekLlmLetters),
                 isolated("\\s?[!-/:-~！-／：-～‘-‟　-。]+"), isolated("\\s+$"),
                 isolated(kDeepseekHan), digits(), bytes()});
}
PreTokenizerPreset deepseek_coder() {
  return staged({isolated("[\\r\\n]"), isolated("\\s?\\p{L}+"), isolated("\\s?\\p{P}+"),
                 isolated(kDeepseekHan), digits(), bytes()});
}
PreTokenizerPreset falcon() {
  return staged({PunctuationSplit{.behaviour = SplitBehaviour::kContiguous}, gpt2_stage(),
                 DigitsSplit{.individual = false}, isolated("[0-9][0-9][0-9]")});
}
PreTokenizerPreset chameleon() {
  return with_bos(
      staged({isolated("<sentinel:[0-9]+>"), isolated("(?:IMGIMG)(?:[A-I]{1,4})Z"),
              isolated("[\\t\\n]|    |  "), digits(), isolated("[\\p{P}!-/:-@\\[-`{-~]"),
              isolated(kGpt2WithoutSpaces), bytes()}));
}

// Merges over characters, the whole text one piece.
PreTokenizerPreset gemma4() {
  PreTokenizerPreset preset;
  preset.escape_spaces = true;
  return preset;
}
PreTokenizerPreset mmbert() {
  PreTokenizerPreset preset = staged(
      {MetaspaceSplit{.replacement = "\u2581", .scheme = PrependScheme::kAlways, .split = true}});
  preset.escape_spaces = true;
  return preset;
}

// What llama.cpp does for a file whose converter did not know the model.
PreTokenizerPreset converter_default() {
  return staged({isolated("[\\p{P}\\$\\+<=>\\^~\\|]+"), isolated(kGpt2WithoutSpaces),
                 isolated("\\p{N}+"), isolated("[0-9][0-9][0-9]"), bytes()});
}

struct Entry {
  const char* name;
  PreTokenizerPreset (*make)();
};
constexpr Entry kPresets[] = {
    {"a.x-4.0", gpt2},
    {"afmoe", afmoe},
    {"bailingmoe", bailing},
    {"bailingmoe2", bailing},
    {"bloom", bloom},
    {"chameleon", chameleon},
    {"chatglm-bpe", llama3},
    {"codeshell", digits_then_gpt2},
    {"cohere2moe", tiny_aya},
    {"command-r", command_r},
    {"dbrx", llama3},
    {"deepseek-coder", deepseek_coder},
    {"deepseek-llm", deepseek_llm},
    {"deepseek-r1-qwen", qwen2},
    {"deepseek-v3", deepseek3},
    {"default", converter_default},
    {"exaone", digits_then_gpt2},
    {"exaone-moe", exaone_moe},
    {"exaone4", gpt2},
    {"f2llmv2", qwen2},
    {"falcon", falcon},
    {"falcon-h1", llama_bpe},
    {"falcon3", llama_bpe},
    {"gemma4", gemma4},
    {"gigachat", gpt2},
    {"glm4", llama3_whole},
    {"glm5", llama3_whole},
    {"gpt-2", gpt2},
    {"gpt-4o", gpt4o},
    {"gpt3-finnish", bloom},
    {"granite-docling", gpt2},
    {"granite-embed-multi-311m", gemma4},
    {"granite-embed-multi-97m", gpt4o_whole},
    {"grok-2", qwen2_uncomposed},
    {"hunyuan", qwen2_uncomposed},
    {"hunyuan-dense", deepseek3},
    {"hy_v4", deepseek3},
    {"jais", gpt2},
    {"jais-2", jais2},
    {"jina-de", gpt2},
    {"jina-es", gpt2},
    {"jina-v1-en", gpt2},
    {"jina-v2-code", gpt2},
    {"jina-v2-de", gpt2},
    {"jina-v2-es", gpt2},
    {"jina-v5-nano", llama_bpe},
    {"joyai-llm", deepseek3},
    {"kanana2", gpt4o},
    {"kimi-k2", kimi_k2},
    {"kormo", qwen2},
    {"laguna", laguna},
    {"lfm2", llama_bpe},
    {"llada-moe", bailing},
    {"llama-bpe", llama_bpe},
    {"llama-v3", llama_bpe},
    {"llama3", llama_bpe},
    {"llama4", gpt4o},
    {"megrez", qwen2},
    {"mellum", gpt2},
    {"mellum2", digits_then_gpt2},
    {"midm-2.0", llama_bpe},
    {"minerva-7b", digits_then_gpt2},
    {"minicpm5", minicpm5},
    {"minimax-m2", gpt4o},
    {"mmbert", mmbert},
    {"modern-bert", gpt2},
    {"mpt", gpt2},
    {"olmo", gpt2},
    {"phi-2", gpt2},
    {"pixtral", llama_bpe},
    {"poro-chat", bloom},
    {"qwen2", qwen2},
    {"qwen35", qwen35},
    {"refact", digits_then_gpt2},
    {"roberta-bpe", gpt2},
    {"sarvam-moe", gemma4},
    {"seed-coder", seed_coder},
    {"smaug-bpe", llama3},
    {"smollm", digits_then_gpt2},
    {"solar-open", qwen2_uncomposed},
    {"spark2_5", spark},
    {"stablelm2", qwen2_uncomposed},
    {"starcoder", digits_then_gpt2},
    {"superbpe", superbpe},
    {"talkie", gpt4o},
    {"tekken", tekken},
    {"tiny_aya", tiny_aya},
    {"trillion", gpt2},
    {"ufakzeka", ufakzeka},
    {"viking", viking},
    {"youtu", youtu},
};

}  // namespace

std::vector<std::string> pre_tokenizer_preset_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kPresets) names.emplace_back(entry.name);
  return names;
}

PreTokenizerPreset pre_tokenizer_preset(const std::string& name, const std::string& where) {
  if (name.empty()) {
    throw Error(ErrorCode::environment,
                where + ": tokenizer.ggml.pre is missing, so how text is split is not known",
                "files from converters before May 2024 lack it; convert the model again");
  }
  for (const Entry& entry : kPresets)
    if (name == entry.name) return entry.make();
  const std::vector<std::string> known = pre_tokenizer_preset_names();
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  throw Error(ErrorCode::environment,
              where + ": unknown tokenizer.ggml.pre \"" + name + "\"" + did_you_mean(name, known),
              "known: " + list);
}

}  // namespace isobit

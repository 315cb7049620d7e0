// Builds a tokenizer from the metadata of a GGUF file.
//
// Control tokens become special added tokens and user-defined tokens plain added ones, both looked
// for in the raw text, as the tokenizer.json they came from has them. Unused tokens are in the
// vocabulary and are never produced by a special spelling. Byte-level BPE files that say nothing
// about special tokens have none: no defaults are guessed. For SentencePiece and WordPiece files
// the defaults are llama.cpp's, which older converters relied on.
//
// Where llama.cpp and the model's own tokenizer differ, that one decides:
//   - BERT words of more than 100 characters are unknown, Hangul is decomposed with the accents,
//   and
//     U+2581 in a text does not begin a word;
//   - a token that strips white space strips all of Unicode's, not ASCII's;
//   - of overlapping special tokens the leftmost is found, where llama.cpp takes the longest
//     anywhere;
//   - tokens that llama.cpp makes special because of their spelling ("</s>" in Qwen2) stay what the
//     file says.
// A character map ("t5") is applied as SentencePiece and llama.cpp do, by the longest entry at each
// place; the `tokenizers` library maps grapheme clusters, which a tokenizer.json gets here too.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

namespace isobit {
namespace {

enum GgufTokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

[[noreturn]] void fail(const GgufTokenizerParts& parts, const std::string& what,
                       const std::string& hint = {}) {
  throw Error(ErrorCode::environment, parts.where + ": " + what, hint);
}

void check_sizes(const GgufTokenizerParts& parts) {
  if (parts.tokens.empty()) fail(parts, "tokenizer.ggml.tokens is empty");
  if (parts.tokens.size() > static_cast<size_t>(kMaxTokenId)) {
    fail(parts, "tokenizer.ggml.tokens has " + std::to_string(parts.tokens.size()) +
                    " entries, at most " + std::to_string(kMaxTokenId) + " are read");
  }
  const auto parallel = [&](const char* key, size_t n) {
    if (n == 0 || n == parts.tokens.size()) return;
    fail(parts, "tokenizer.ggml." + std::string(key) + " has " + std::to_string(n) +
                    " entries for " + std::to_string(parts.tokens.size()) + " tokens");
  };
  parallel("token_type", parts.token_types.size());
  parallel("scores", parts.scores.size());
}

std::optional<int32_t> checked_special(const GgufTokenizerParts& parts, std::optional<int64_t> id,
                                       const char* name) {
  if (!id) return std::nullopt;
  if (*id < 0 || *id >= static_cast<int64_t>(parts.tokens.size())) {
    fail(parts, "tokenizer.ggml." + std::string(name) + " is " + std::to_string(*id) +
                    ", outside the vocabulary of " + std::to_string(parts.tokens.size()) +
                    " tokens");
  }
  return static_cast<int32_t>(*id);
}

bool contains_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

std::string ascii_lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Which tokens take white space along, by the name of the model. Source: llama.cpp, which has it
// from those models' tokenizer.json.
void set_strips(const GgufTokenizerParts& parts, AddedToken& token) {
  const std::string name = ascii_lowered(parts.general_name);
  if (contains_any(parts.pre, {"jina-v2-de", "jina-v2-es", "jina-v2-code", "mmbert"}) ||
      contains_any(parts.architecture, {"nomic-bert-moe", "jina-bert-v3"})) {
    token.lstrip = token.content == "<mask>";
  } else if (contains_any(name, {"phi-3", "phi3"})) {
    token.rstrip =
        token.content != "<unk>" && token.content != "<s>" && token.content != "<|endoftext|>";
  } else if (contains_any(name, {"modern-bert"})) {
    token.lstrip = token.content == "[MASK]";
  }
}

std::vector<AddedToken> added_tokens_of(const GgufTokenizerParts& parts) {
  std::vector<AddedToken> added;
  for (size_t id = 0; id < parts.token_types.size(); ++id) {
    const int32_t type = parts.token_types[id];
    if (type < kNormal || type > kByte) {
      fail(parts, "token " + std::to_string(id) + " has the unknown type " + std::to_string(type));
    }
    const bool special = type == kControl || type == kUnknown;
    if (!special && type != kUserDefined) continue;
    AddedToken token{
        .id = static_cast<int32_t>(id), .content = parts.tokens[id], .special = special};
    set_strips(parts, token);
    added.push_back(std::move(token));
  }
  check_added_tokens(added, parts.where);
  return added;
}

std::vector<std::pair<std::string, std::string>> split_merges(const GgufTokenizerParts& parts) {
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(parts.merges.size());
  for (const std::string& line : parts.merges) {
    const size_t space = line.find(' ');
    if (space == 0 || space == std::string::npos || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string::npos) {
      fail(parts, "merge " + std::to_string(merges.size()) + " is \"" + line +
                      "\", expected two tokens with one space between");
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

constexpr const char* kVisibleSpace = "\u2581";
constexpr const char* kContinuing = "##";

// The members that every kind of GGUF tokenizer fills in the same way.
struct Common {
  std::vector<AddedToken> added_tokens;
  std::optional<int32_t> bos_id, eos_id, pad_id, unknown_id;
};

Common common_of(const GgufTokenizerParts& parts) {
  return {.added_tokens = added_tokens_of(parts),
          .bos_id = checked_special(parts, parts.bos_id, "bos_token_id"),
          .eos_id = checked_special(parts, parts.eos_id, "eos_token_id"),
          .pad_id = checked_special(parts, parts.pad_id, "padding_token_id"),
          .unknown_id = checked_special(parts, parts.unknown_id, "unknown_token_id")};
}

std::vector<int32_t> ids_to_add(const GgufTokenizerParts& parts, bool add,
                                std::optional<int32_t> id, const char* word, const char* key) {
  if (!add) return {};
  if (!id) {
    fail(parts, "a" + std::string(word) + " token is to be added, but tokenizer.ggml." + key +
                    " is missing");
  }
  return {*id};
}

TokenizerParts assemble(const GgufTokenizerParts& parts, Common common, Normalizer normalizer,
                        PreTokenizer pre_tokenizer, TokenModel model, Decoder decoder, bool add_bos,
                        bool add_eos) {
  return {.where = parts.where,
          .normalizer = std::move(normalizer),
          .pre_tokenizer = std::move(pre_tokenizer),
          .model = std::move(model),
          .decoder = std::move(decoder),
          .added_tokens = std::move(common.added_tokens),
          .prefix_ids = ids_to_add(parts, parts.add_bos.value_or(add_bos), common.bos_id, " BOS",
                                   "bos_token_id"),
          .suffix_ids = ids_to_add(parts, parts.add_eos.value_or(add_eos), common.eos_id, "n EOS",
                                   "eos_token_id"),
          .bos_id = common.bos_id,
          .eos_id = common.eos_id,
          .pad_id = common.pad_id,
          .unknown_id = common.unknown_id,
          .bos_from = common.bos_id ? parts.bos_from : "",
          .eos_from = common.eos_id ? parts.eos_from : ""};
}

// Tokens spelled with U+2581 for a space and "<0x0A>" for a byte. A space that was put in front of
// a text is not part of it.
Decoder visible_space_decoder(bool prepended) {
  std::vector<DecoderStep> steps{DecodeReplace{.literal = kVisibleSpace, .content = " "},
                                 DecodeByteFallback{}};
  if (!prepended) return Decoder(std::move(steps), std::nullopt);
  return Decoder(std::move(steps), DecodeStrip{.character = " ", .n_start = 1, .n_stop = 0});
}

TokenizerParts bpe_parts(const GgufTokenizerParts& parts, const std::string& pre) {
  PreTokenizerPreset preset = pre_tokenizer_preset(pre, parts.where);
  if (parts.merges.empty()) fail(parts, "tokenizer.ggml.merges is missing or empty");
  Common common = common_of(parts);
  BpeOptions options{.alphabet = preset.pre_tokenizer.gives_bytes() ? BpeAlphabet::kBytes
                                                                    : BpeAlphabet::kCharacters,
                     .ignore_merges = preset.ignore_merges};
  std::vector<NormalizerStep> steps;
  if (preset.nfc) steps.emplace_back(UnicodeFormStep{UnicodeForm::kNfc});
  if (preset.escape_spaces) {
    steps.emplace_back(replace_literal(" ", kVisibleSpace));
    options.byte_fallback = true;
    options.fuse_unknown = true;
    if (common.unknown_id)
      options.unknown_token = parts.tokens[static_cast<size_t>(*common.unknown_id)];
  }
  BpeModel model(parts.tokens, split_merges(parts), options, parts.where);
  return assemble(parts, std::move(common), Normalizer(std::move(steps)),
                  std::move(preset.pre_tokenizer), std::move(model),
                  preset.escape_spaces ? visible_space_decoder(false)
                                       : Decoder({DecodeByteLevel{}}, std::nullopt),
                  preset.add_bos_by_default, false);
}

void default_bos(GgufTokenizerParts& parts, int64_t id, const char* from) {
  if (parts.bos_id) return;
  parts.bos_id = id;
  parts.bos_from = from;
}
void default_eos(GgufTokenizerParts& parts, int64_t id, const char* from) {
  if (parts.eos_id) return;
  parts.eos_id = id;
  parts.eos_from = from;
}

void require_scores(const GgufTokenizerParts& parts) {
  if (parts.scores.empty()) fail(parts, "tokenizer.ggml.scores is missing");
}

TokenizerParts spm_parts(GgufTokenizerParts parts) {
  require_scores(parts);
  if (!parts.unknown_id) parts.unknown_id = 0;
  default_bos(parts, 1, "llama.cpp's default for this kind");
  default_eos(parts, 2, "llama.cpp's default for this kind");
  Common common = common_of(parts);
  const bool prepend = parts.add_space_prefix.value_or(true);
  std::vector<NormalizerStep> steps;
  if (prepend) steps.emplace_back(PrependStep{.text = kVisibleSpace});
  steps.emplace_back(replace_literal(" ", kVisibleSpace));
  SpmModel model(parts.tokens, parts.scores, common.unknown_id, parts.where);
  return assemble(parts, std::move(common), Normalizer(std::move(steps)), PreTokenizer(),
                  std::move(model), visible_space_decoder(prepend), true, false);
}

// As the model's own vocabulary spells them: a GGUF marks the tokens that begin a word, with
// U+2581, and not those that continue one. Special tokens are in neither way.
std::vector<std::string> word_piece_spellings(const GgufTokenizerParts& parts,
                                              const Common& common) {
  std::vector<std::string> tokens = parts.tokens;
  std::vector<bool> special(tokens.size(), false);
  for (const AddedToken& token : common.added_tokens) special[static_cast<size_t>(token.id)] = true;
  for (const auto& id : {common.bos_id, common.eos_id, common.pad_id, common.unknown_id})
    if (id) special[static_cast<size_t>(*id)] = true;
  const std::string_view begins = kVisibleSpace;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (special[id] || tokens[id].empty()) continue;
    tokens[id] = tokens[id].starts_with(begins) ? tokens[id].substr(begins.size())
                                                : kContinuing + tokens[id];
  }
  return tokens;
}

TokenizerParts word_piece_parts(GgufTokenizerParts parts) {
  default_bos(parts, parts.cls_id.value_or(101),
              parts.cls_id ? "tokenizer.ggml.cls_token_id" : "llama.cpp's default for this kind");
  default_eos(parts, parts.separator_id.value_or(102),
              parts.separator_id ? "tokenizer.ggml.seperator_token_id"
                                 : "llama.cpp's default for this kind");
  if (!parts.unknown_id) parts.unknown_id = 100;
  parts.add_bos = parts.add_eos = true;  // whatever the file says, as llama.cpp does
  Common common = common_of(parts);
  const bool lowercase = parts.lowercase.value_or(true);
  WordPieceModel model(word_piece_spellings(parts, common), *common.unknown_id,
                       {.continuing_prefix = kContinuing}, parts.where);
  return assemble(
      parts, std::move(common),
      Normalizer({BertStep{.clean_text = true,
                           .handle_chinese_chars = true,
                           .strip_accents = parts.strip_accents.value_or(lowercase),
                           .lowercase = lowercase}}),
      PreTokenizer({WhiteSpaceSplit{}, PunctuationSplit{.behaviour = SplitBehaviour::kIsolated}}),
      std::move(model),
      Decoder({DecodeWordPiece{.prefix = kContinuing, .cleanup = true}}, std::nullopt), true, true);
}

// Ordinary tokens have their scores, user-defined ones 0; what only stands for something else is
// not looked for.
std::vector<std::optional<double>> unigram_scores(const GgufTokenizerParts& parts,
                                                  double& min_score) {
  std::vector<std::optional<double>> scores(parts.tokens.size());
  min_score = std::numeric_limits<double>::max();
  for (size_t id = 0; id < scores.size(); ++id) {
    const int32_t type = parts.token_types.empty() ? int32_t{kNormal} : parts.token_types[id];
    const auto score = static_cast<double>(parts.scores[id]);
    if (type == kNormal) min_score = std::min(min_score, score);
    if (type == kNormal || type == kUnused) scores[id] = score;
    if (type == kUserDefined) scores[id] = 0;
  }
  if (min_score == std::numeric_limits<double>::max()) fail(parts, "there are no ordinary tokens");
  return scores;
}

TokenizerParts unigram_parts(GgufTokenizerParts parts) {
  require_scores(parts);
  default_eos(parts, 1, "llama.cpp's default for this kind");
  if (!parts.unknown_id) parts.unknown_id = 2;
  Common common = common_of(parts);
  std::vector<NormalizerStep> steps;
  if (!parts.precompiled_charsmap.empty()) {
    steps.emplace_back(
        CharsmapStep{.map = std::make_shared<Charsmap>(parts.precompiled_charsmap, parts.where),
                     .by_grapheme = false});
  }
  const bool prepend = parts.add_space_prefix.value_or(false);
  steps.emplace_back(SentencePieceSpacesStep{
      .prepend = prepend, .merge = parts.remove_extra_whitespaces.value_or(false)});
  UnigramOptions options{.unknown_id = common.unknown_id};
  auto scores = unigram_scores(parts, options.min_score);
  UnigramModel model(parts.tokens, std::move(scores), options, parts.where);
  return assemble(parts, std::move(common), Normalizer(std::move(steps)), PreTokenizer(),
                  std::move(model), visible_space_decoder(prepend), false, true);
}

}  // namespace

Tokenizer make_gguf_tokenizer(const GgufTokenizerParts& parts) {
  check_sizes(parts);
  if (parts.model == "gpt2") return Tokenizer(bpe_parts(parts, parts.pre));
  if (parts.model == "gemma4") return Tokenizer(bpe_parts(parts, "gemma4"));
  if (parts.model == "llama") return Tokenizer(spm_parts(parts));
  if (parts.model == "bert") return Tokenizer(word_piece_parts(parts));
  if (parts.model == "t5") return Tokenizer(unigram_parts(parts));
  fail(parts,
       "tokenizer.ggml.model is \"" + parts.model +
           "\", which is not supported (gpt2, gemma4, llama, bert and t5 are)",
       parts.model == "rwkv" || parts.model == "plamo2"
           ? "use the checkpoint's tokenizer.json where it has one"
           : "");
}

}  // namespace isobit

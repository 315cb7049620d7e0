// Builds a tokenizer from the metadata of a GGUF file.
//
// Control tokens become special added tokens and user-defined tokens plain added ones, both looked
// for in the raw text, as the tokenizer.json they came from has them. Unused tokens are in the
// vocabulary and are never produced by a special spelling. A file that says nothing about special
// tokens has none: no defaults are guessed.
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
  if (parts.model != "gpt2") {
    fail(parts,
         "tokenizer.ggml.model is \"" + parts.model + "\", expected \"gpt2\" (byte-level BPE)",
         "isobit has no other tokenizer yet");
  }
  if (parts.tokens.empty()) fail(parts, "tokenizer.ggml.tokens is empty");
  if (parts.tokens.size() > static_cast<size_t>(kMaxTokenId)) {
    fail(parts, "tokenizer.ggml.tokens has " + std::to_string(parts.tokens.size()) +
                    " entries, at most " + std::to_string(kMaxTokenId) + " are read");
  }
  if (!parts.token_types.empty() && parts.token_types.size() != parts.tokens.size()) {
    fail(parts, "tokenizer.ggml.token_type has " + std::to_string(parts.token_types.size()) +
                    " entries for " + std::to_string(parts.tokens.size()) + " tokens");
  }
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

std::vector<AddedToken> added_tokens_of(const GgufTokenizerParts& parts) {
  std::vector<AddedToken> added;
  for (size_t id = 0; id < parts.token_types.size(); ++id) {
    const int32_t type = parts.token_types[id];
    if (type < kNormal || type > kByte) {
      fail(parts, "token " + std::to_string(id) + " has the unknown type " + std::to_string(type));
    }
    const bool special = type == kControl || type == kUnknown;
    if (!special && type != kUserDefined) continue;
    added.push_back(
        {.id = static_cast<int32_t>(id), .content = parts.tokens[id], .special = special});
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

}  // namespace

Tokenizer make_gguf_tokenizer(const GgufTokenizerParts& parts) {
  check_sizes(parts);
  PreTokenizerPreset preset = pre_tokenizer_preset(parts.pre, parts.where);
  const auto bos_id = checked_special(parts, parts.bos_id, "bos_token_id");
  const auto eos_id = checked_special(parts, parts.eos_id, "eos_token_id");
  std::vector<int32_t> prefix_ids;
  std::vector<int32_t> suffix_ids;
  if (parts.add_bos.value_or(preset.add_bos_by_default)) {
    if (!bos_id)
      fail(parts, "a BOS token is to be added, but tokenizer.ggml.bos_token_id is missing");
    prefix_ids.push_back(*bos_id);
  }
  if (parts.add_eos.value_or(false)) {
    if (!eos_id)
      fail(parts, "an EOS token is to be added, but tokenizer.ggml.eos_token_id is missing");
    suffix_ids.push_back(*eos_id);
  }
  return Tokenizer(TokenizerParts{
      .where = parts.where,
      .normalizer = preset.nfc ? Normalizer::kNfc : Normalizer::kNone,
      .pre_tokenizer = std::move(preset.pre_tokenizer),
      .bpe = BpeModel(parts.tokens, split_merges(parts),
                      {.ignore_merges = preset.ignore_merges, .unknown_id = {}}, parts.where),
      .added_tokens = added_tokens_of(parts),
      .prefix_ids = std::move(prefix_ids),
      .suffix_ids = std::move(suffix_ids),
      .bos_id = bos_id,
      .eos_id = eos_id,
      .pad_id = checked_special(parts, parts.pad_id, "padding_token_id"),
      .unknown_id = checked_special(parts, parts.unknown_id, "unknown_token_id")});
}

}  // namespace isobit

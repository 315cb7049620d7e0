// The tokenizer: text to token ids and back, for BPE over bytes or characters, SentencePiece's BPE,
// Unigram, WordPiece and WordLevel vocabularies.
//
// Ids are what a model sees and what runs are compared by, so they must be those of the model's own
// tokenizer. Everything here follows Hugging Face's `tokenizers`; a construct that is not here is
// refused by name when a tokenizer is loaded, never approximated. Three limits: text must be UTF-8
// (that library cannot be given anything else), and a byte for which a vocabulary has no token is
// dropped, as that library drops it (SmolLM2 lacks U+0004 and eight more control characters and
// private planes): decode(encode(text)) then differs from text, which `round_trips` tells.
// What the tables of PCRE2 and utf8proc do not know yet is filled in up to Unicode 16, as far as
// regular expressions and digits go (unicode_newer.h); text_library_versions() says which they are.
//
// A Tokenizer is immutable and safe to use from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_config.h"

namespace isobit {

enum class AddSpecial {
  kNo,
  kYes
};  // the tokens a tokenizer puts around a text by itself, such as a BOS
enum class SkipSpecial { kNo, kYes };  // leave special tokens out of decoded text

struct TokenizerParts;  // tokenizer_parts.h

class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // Special tokens written out in the text become their ids. Throws Error(usage) with the byte
  // offset when the text is not UTF-8.
  std::vector<int32_t> encode(std::string_view text, AddSpecial add_special) const;

  // The text of the tokens, as bytes; not always UTF-8. Throws Error(usage) on an id outside the
  // vocabulary.
  std::string decode(std::span<const int32_t> ids, SkipSpecial skip_special) const;

  // The bytes that one token contributes to text when others come before it: "" for special tokens
  // and for unused ids. At the start of a text decode() may leave out a space (SentencePiece) or
  // not put one (WordPiece). Throws as decode does.
  std::string_view token_bytes(int32_t id) const;
  // How the vocabulary spells a token: "Ġthe", "<|im_end|>"; "" for an unused id. Throws as decode
  // does.
  std::string_view token_text(int32_t id) const;
  bool is_special(int32_t id) const;  // false outside the vocabulary

  // One more than the largest id that has a token. A model may have more rows (padding).
  int32_t vocab_size() const;
  std::optional<int32_t> id_of(std::string_view token_text) const;  // the spelling of token_text()

  const std::vector<AddedToken>& added_tokens() const;  // ascending ids

  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  std::optional<int32_t> pad_id() const;
  std::optional<int32_t> unknown_id() const;
  // What AddSpecial::kYes puts before and after a text.
  const std::vector<int32_t>& prefix_ids() const;
  const std::vector<int32_t>& suffix_ids() const;
  // Special-token strings by their configuration names, for chat templates: "" when there is none.
  std::string_view bos_token() const;
  std::string_view eos_token() const;

  // Which file or key names BOS and EOS; "" when none does.
  const std::string& bos_from() const;
  const std::string& eos_from() const;
  // What looked odd when the tokenizer was loaded and decides nothing, for people.
  const std::vector<std::string>& notes() const;

  // True when decoding gives the text back (NFC, prefix spaces and dropped bytes can prevent it).
  bool round_trips(std::string_view text) const;

  // SHA-256, in hex, over all that decides ids and decoded bytes, in a canonical form: vocabulary,
  // merges, added tokens, normalizer, pre-tokenizer, tokens put around a text. The order of keys
  // and white space in files do not matter.
  const std::string& digest() const;

  // What it is made of, for people and for programs: "BPE", the number of merges (0 where there are
  // none), and the steps of each part as JSON, in order.
  const char* model_kind() const;
  size_t n_merges() const;
  struct Steps {
    Json normalizer, pre_tokenizer, decoder;
  };
  Steps steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// From the texts of a tokenizer.json and of the files beside it (tokenizer_config.h). `where` names
// the tokenizer in messages. Throws Error(environment).
Tokenizer load_tokenizer_json(std::string_view tokenizer_json, const std::string& where,
                              const TokenizerSideFiles& side_files = {});

// The tokenizer section of a GGUF, as the file has it.
struct GgufTokenizerParts {
  std::string where;                 // the file, for messages
  std::string general_name = {};     // general.name and general.architecture: some tokens strip the
  std::string architecture = {};     // white space beside them, which a GGUF says in no other way
  std::string model;                 // tokenizer.ggml.model: "gpt2" is byte-level BPE, "llama"
                                     // SentencePiece's, "gemma4" BPE over characters, "bert"
                                     // WordPiece, "t5" Unigram
  std::string pre;                   // tokenizer.ggml.pre; "" when absent
  std::vector<std::string> tokens;   // "gpt2": spelled in the byte alphabet
  std::vector<float> scores = {};    // parallel to the tokens, or empty
  std::vector<int32_t> token_types;  // 1 normal 2 unknown 3 control 4 user-defined 5 unused 6 byte;
                                     // empty: all normal
  std::vector<std::string> merges;   // "left right", in rank order
  std::optional<int64_t> bos_id, eos_id, unknown_id, pad_id;
  std::optional<bool> add_bos, add_eos;
  std::optional<int64_t> cls_id = {}, separator_id = {};
  std::optional<bool> add_space_prefix = {}, remove_extra_whitespaces = {};
  std::optional<bool> lowercase = {}, strip_accents = {};  // tokenizer.ggml.normalizer.*
  std::string precompiled_charsmap = {};
  std::string bos_from = "tokenizer.ggml.bos_token_id";  // replaced where a default is taken
  std::string eos_from = "tokenizer.ggml.eos_token_id";
};
// Throws Error(environment).
Tokenizer make_gguf_tokenizer(const GgufTokenizerParts& parts);

}  // namespace isobit

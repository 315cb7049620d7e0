// The files beside a tokenizer.json, as far as they decide ids: tokenizer_config.json and, of older
// checkpoints, special_tokens_map.json and added_tokens.json.
//
// Followed is what transformers 5 (5.24, TokenizersBackend) does with a tokenizer.json:
//   - "added_tokens_decoder" of the configuration changes and adds tokens. Only without it are
//     special_tokens_map.json (whose entries win over the configuration's) and added_tokens.json
//     (under tokenizer.json's own added tokens) read;
//   - every named special token ("bos_token", ..., "image_token") and every additional one that is
//     not an added token yet becomes one, and is from then on found in text;
//   - a token that the vocabulary lacks gets the next free id, whatever id the file says; a file
//     that says another one is refused here;
//   - "add_bos_token" and "add_eos_token" are not followed: the post-processor in tokenizer.json
//     decides. Version 4 let them decide for some classes (LlamaTokenizerFast, Gemma's, Cohere's),
//     so a contradiction is noted;
//   - "split_special_tokens" (special tokens in a text are text) is refused by name.
// Classes with a constructor of their own (LlamaTokenizer of version 5) build their pre-tokenizer
// anew; that is not followed, tokenizer.json is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/added_tokens.h"

namespace isobit {

struct TokenizerSideFiles {
  std::optional<std::string> config = {};              // tokenizer_config.json
  std::optional<std::string> special_tokens_map = {};  // special_tokens_map.json
  std::optional<std::string> added_tokens = {};        // added_tokens.json
};

// A special token by the name that a configuration gives it.
struct NamedToken {
  std::string key;   // "bos_token"; of additional ones "additional_special_tokens"
  AddedToken token;  // its id is not set
  std::string from;  // "tokenizer_config.json"
};

struct TokenizerConfig {
  std::vector<AddedToken> listed;   // with the ids that the files say, ascending
  std::vector<NamedToken> special;  // in the order in which they are added
  std::optional<bool> add_bos, add_eos;
  std::string tokenizer_class;

  const NamedToken* named(std::string_view key) const;
};

// `own_tokens` are those of tokenizer.json. Throws Error(environment) naming `where`, the file and
// the member.
TokenizerConfig read_tokenizer_config(const TokenizerSideFiles& files,
                                      const std::vector<AddedToken>& own_tokens,
                                      const std::string& where);

// {"content", "single_word", "lstrip", "rstrip", "normalized", "special"}, the last five optional.
AddedToken read_added_token(const class JsonFields& fields, int64_t id);

}  // namespace isobit

// What a loader hands to Tokenizer: the same for every file format, and already checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/token_model.h"

namespace isobit {

struct TokenizerParts {
  std::string where;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  TokenModel model;
  Decoder decoder;
  std::vector<AddedToken> added_tokens;  // ascending ids, each once
  std::vector<int32_t> prefix_ids = {};  // put before a text with AddSpecial::kYes
  std::vector<int32_t> suffix_ids = {};
  std::optional<int32_t> bos_id = {}, eos_id = {}, pad_id = {}, unknown_id = {};
  std::string bos_from = {}, eos_from = {};  // the file or key that names them; "" when none does
  std::vector<std::string> notes = {};       // what looked odd but decides nothing
};

// Ids are indices of arrays: a file with one token and the id 2^31 - 1 must not cost gigabytes.
constexpr int64_t kMaxTokenId = (int64_t{1} << 24) - 1;
constexpr size_t kMaxAddedTokenBytes = 1024;  // matching costs at most this much per byte of text
void require_token_id(int64_t id, size_t n_tokens, const std::string& where);

// Sorts by id. Throws Error(environment) on two entries for one id or one content, on an empty or
// oversized content and on one that is not UTF-8.
void check_added_tokens(std::vector<AddedToken>& tokens, const std::string& where);

}  // namespace isobit

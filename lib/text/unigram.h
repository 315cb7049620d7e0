// Unigram: the way of cutting a piece into tokens whose scores sum to the most.
//
// Viterbi over the bytes of a piece, left to right, in binary64. A character that is no token
// counts as the unknown token, ten below the lowest score; runs of it are one unknown token, or the
// tokens of its bytes. Source: the Unigram model of Hugging Face's `tokenizers`, after
// google/sentencepiece; llama.cpp reads GGUF files whose tokenizer is "t5" in the same way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/token_trie.h"
#include "text/vocabulary.h"

namespace isobit {

struct UnigramScratch {
  struct Best {
    double score;
    int32_t id;
    uint32_t n_bytes;  // of the token that ends here; 0: nothing ends here
  };
  std::vector<Best> ends;  // parallel to the bytes of a piece, and one more
  std::vector<std::pair<uint32_t, uint32_t>> cuts;  // begin and end of tokens, last first
};

struct UnigramOptions {
  std::optional<int32_t> unknown_id = std::nullopt;
  bool byte_fallback = false;
  double min_score = 0;  // the lowest score of an ordinary token
};

class UnigramModel {
 public:
  // `scores` are parallel to the tokens; a token without one is never found in text. Throws
  // Error(environment), naming `where`, on two tokens with one spelling and on a score that is not
  // a number. REQUIRES: unknown_id is a token's id.
  UnigramModel(std::vector<std::string> tokens, std::vector<std::optional<double>> scores,
               const UnigramOptions& options, const std::string& where);

  // Appends the ids of one piece. Throws Error(usage) on a character that is no token when there is
  // no unknown token.
  void encode(std::string_view piece, UnigramScratch& scratch, std::vector<int32_t>& ids) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<std::optional<double>>& scores() const { return scores_; }
  const UnigramOptions& options() const { return options_; }

 private:
  void find_best(std::string_view piece, UnigramScratch& scratch) const;
  void trace_back(std::string_view piece, UnigramScratch& scratch) const;

  Vocabulary vocabulary_;
  std::vector<std::optional<double>> scores_;
  UnigramOptions options_;
  ByteTokens byte_tokens_;
  TokenTrie trie_;
};

}  // namespace isobit

// SentencePiece-style byte-pair encoding: merges are ordered by the score of the token they make.
//
// A piece starts as one symbol per character. Of all adjacent pairs whose concatenation is a token
// the one with the highest score is merged, the leftmost first, until none is left. A character
// that is no token becomes its bytes' tokens ("<0xE2>"), or the unknown token where the vocabulary
// lacks one of them. A heap over a linked list, without recursion. Source: llama.cpp's reading of
// GGUF files whose tokenizer is "llama", which follows google/sentencepiece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace isobit {

// Reused between calls; one per thread.
struct SpmScratch {
  struct Symbol {
    uint32_t begin;
    uint32_t n_bytes;  // 0: merged into another
    int32_t previous;  // index, -1 at the ends
    int32_t next;
  };
  struct Candidate {
    float score;
    int32_t left;      // index of the left symbol
    uint32_t n_bytes;  // of both, when the pair was ranked
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

class SpmModel {
 public:
  // `scores` are parallel to the tokens. Throws Error(environment), naming `where`, on two tokens
  // with one spelling and on a score that is not a number. REQUIRES: unknown_id is a token's id.
  SpmModel(std::vector<std::string> tokens, std::vector<float> scores,
           std::optional<int32_t> unknown_id, const std::string& where);

  // Appends the ids of one piece.
  void encode(std::string_view piece, SpmScratch& scratch, std::vector<int32_t>& ids) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<float>& scores() const { return scores_; }
  std::optional<int32_t> unknown_id() const { return unknown_id_; }

 private:
  void append_symbol(std::string_view text, std::vector<int32_t>& ids, bool& after_unknown) const;

  Vocabulary vocabulary_;
  std::vector<float> scores_;
  ByteTokens byte_tokens_;
  std::optional<int32_t> unknown_id_;
};

}  // namespace isobit

// WordPiece: a word to the longest tokens that it begins with, one after the other.
//
// A word in which some place begins no token is the unknown token as a whole, and so is one of more
// than max_characters. Source: Hugging Face's `tokenizers`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace isobit {

struct WordPieceOptions {
  std::string continuing_prefix = "##";  // of tokens inside a word
  size_t max_characters = 100;
};

class WordPieceModel {
 public:
  // Throws Error(environment), naming `where`, on two tokens with one spelling. REQUIRES:
  // unknown_id is a token's id.
  WordPieceModel(std::vector<std::string> tokens, int32_t unknown_id,
                 const WordPieceOptions& options, const std::string& where);

  // Appends the ids of one word.
  void encode(std::string_view word, std::string& scratch, std::vector<int32_t>& ids) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const WordPieceOptions& options() const { return options_; }
  int32_t unknown_id() const { return unknown_id_; }

 private:
  struct Piece {
    int32_t id;
    size_t n_bytes;  // of the word
  };
  std::optional<Piece> longest_at(std::string_view word, size_t at, std::string& scratch) const;

  Vocabulary vocabulary_;
  WordPieceOptions options_;
  int32_t unknown_id_;
};

// One token per word.
class WordLevelModel {
 public:
  WordLevelModel(std::vector<std::string> tokens, std::optional<int32_t> unknown_id,
                 const std::string& where);
  // Throws Error(usage) on a word that is no token when there is no unknown token.
  void encode(std::string_view word, std::vector<int32_t>& ids) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::optional<int32_t> unknown_id() const { return unknown_id_; }

 private:
  Vocabulary vocabulary_;
  std::optional<int32_t> unknown_id_;
};

}  // namespace isobit

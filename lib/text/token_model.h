// The model of a tokenizer: pieces of text to token ids. One of five kinds.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/bpe.h"
#include "text/spm.h"
#include "text/unigram.h"
#include "text/vocabulary.h"
#include "text/word_piece.h"

namespace isobit {

class Sha256;

using TokenModel = std::variant<BpeModel, SpmModel, UnigramModel, WordPieceModel, WordLevelModel>;

// Reused between calls; one per thread.
struct ModelScratch {
  BpeScratch bpe;
  SpmScratch spm;
  UnigramScratch unigram;
  std::string word;
};

const Vocabulary& vocabulary_of(const TokenModel& model);
// Appends the ids of one piece. Throws as the models do.
void encode_piece(const TokenModel& model, std::string_view piece, ModelScratch& scratch,
                  std::vector<int32_t>& ids);
// "BPE", "SentencePiece BPE", "Unigram", "WordPiece", "WordLevel".
const char* kind_of(const TokenModel& model);
size_t n_merges_of(const TokenModel& model);
// All that decides ids but the vocabulary itself.
void hash_model(const TokenModel& model, Sha256& sha);

}  // namespace isobit

// Byte-pair encoding: a piece of text to token ids by merging, again and again, the adjacent pair
// that was learnt first.
//
// A piece starts as one symbol per byte, or per character (BpeAlphabet). Of all adjacent pairs that
// are in the merge list the one with the lowest rank is merged, the leftmost first, until none is
// left. Done with a heap over a linked list that is n log n for a piece of n bytes, without
// recursion: a megabyte of one repeated letter is one piece. Source: the BPE model of Hugging
// Face's `tokenizers`, whose results these are, the bytes that a vocabulary lacks included (below).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/vocabulary.h"

namespace isobit {

struct BpeMerge {
  int32_t left;
  int32_t right;
};

enum class BpeAlphabet {
  kBytes,      // tokens are spelled in the byte alphabet (byte_level.h), pieces are raw bytes
  kCharacters  // tokens and pieces are plain UTF-8
};

struct BpeOptions {
  BpeAlphabet alphabet = BpeAlphabet::kBytes;
  bool ignore_merges =
      false;  // a piece that is itself a token is that token, whatever the merges say
  std::optional<std::string> unknown_token = std::nullopt;  // for bytes or characters without a
                                                            // token; without it they are dropped
  bool fuse_unknown = false;   // one unknown token for a run of such bytes
  bool byte_fallback = false;  // before that: a character without a token is its bytes' tokens
  std::string continuing_prefix = {};   // before every character of a piece but the first
  std::string end_of_word_suffix = {};  // after the last character of a piece
};

// Remembers pieces that were encoded before. Bounded: emptied when full. Results never depend on
// it.
class BpePieceCache {
 public:
  BpePieceCache();
  struct Ids {
    const int32_t* begin;
    size_t size;
  };
  std::optional<Ids> find(std::string_view piece, uint64_t hash) const;
  void insert(std::string_view piece, uint64_t hash, const int32_t* ids, size_t n_ids);

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t text_at = 0;
    uint32_t ids_at = 0;
    uint16_t n_bytes = 0;  // 0: the slot is free
    uint16_t n_ids = 0;
  };
  std::vector<Slot> slots_;
  std::string text_;
  std::vector<int32_t> ids_;
  size_t n_used_ = 0;
};

// Reused between calls; one per thread.
struct BpeScratch {
  struct Symbol {
    int32_t id;
    int32_t previous;  // index, -1 at the ends
    int32_t next;
    bool alive;
  };
  struct Candidate {
    uint32_t rank;
    int32_t left;  // index of the left symbol
    int32_t merged_id;
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  std::vector<int32_t> start_ids;  // of the symbols that a piece begins as
  std::string spelling;
  BpePieceCache cache;
};

class BpeModel {
 public:
  // `vocabulary[id]` is a token; "" where there is no token of the model. Merges come in rank
  // order. Throws Error(environment), naming `where`, on two tokens with one spelling, on a merge
  // whose parts or result are no tokens, on a merge listed twice, and on an unknown token that is
  // none. Byte fallback, prefix and suffix are for characters. REQUIRES: options agree with that.
  BpeModel(std::vector<std::string> vocabulary,
           const std::vector<std::pair<std::string, std::string>>& merges,
           const BpeOptions& options, const std::string& where);

  // Appends the ids of one piece.
  void encode(std::string_view piece, BpeScratch& scratch, std::vector<int32_t>& ids) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<BpeMerge>& merges() const { return merges_; }
  const BpeOptions& options() const { return options_; }

 private:
  struct PairRule {
    uint64_t key;  // left id, right id; kNoPair where the slot is free
    uint32_t rank;
    int32_t merged_id;
  };

  void index_bytes();
  void index_merges(const std::vector<std::pair<std::string, std::string>>& merges,
                    const std::string& where);
  const PairRule* find_rule(int32_t left, int32_t right) const;
  void encode_uncached(std::string_view piece, BpeScratch& scratch,
                       std::vector<int32_t>& ids) const;
  bool encode_whole(std::string_view piece, std::vector<int32_t>& ids) const;
  void start_bytes(std::string_view piece, BpeScratch& scratch) const;
  void start_characters(std::string_view piece, BpeScratch& scratch) const;
  void merge_short(BpeScratch& scratch) const;
  void merge_long(BpeScratch& scratch) const;

  Vocabulary vocabulary_;
  std::unordered_map<std::string, int32_t>
      ids_of_bytes_;  // raw bytes of a token to its id; only with ignore_merges
  std::vector<BpeMerge> merges_;
  std::vector<PairRule> rules_;  // open addressing, a power of two
  int32_t byte_ids_[256];        // of the byte alphabet
  ByteTokens byte_tokens_;       // "<0x0A>" and so on
  std::optional<int32_t> unknown_id_;
  BpeOptions options_;
};

}  // namespace isobit

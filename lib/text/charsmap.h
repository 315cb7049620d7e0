// SentencePiece's precompiled character map: a double-array trie from byte sequences to their
// replacements.
//
// Four little-endian bytes give the size of the array, then come its 32-bit units, then the
// replacements, each ended by a zero byte. A unit holds the label of the edge that leads to it
// (bits 0-7), whether a value follows (8), and the offset of its children (10-30, shifted by 8 more
// where bit 9 is set). Source: Darts-clone as used by google/sentencepiece (normalizer.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

class Charsmap {
 public:
  // Throws Error(environment), naming `where`, when sizes do not add up or a replacement is not
  // UTF-8.
  Charsmap(std::string_view blob, const std::string& where);

  struct Match {
    size_t n_bytes;  // of the text
    std::string_view replacement;
  };
  // The longest, or the shortest, entry that `text` begins with. Throws Error(environment) where
  // the array leads outside of itself or into a character. REQUIRES: text is well-formed UTF-8.
  std::optional<Match> longest_prefix(std::string_view text) const { return find(text, false); }
  std::optional<Match> shortest_prefix(std::string_view text) const { return find(text, true); }

  const std::string& blob() const { return blob_; }

 private:
  std::optional<Match> find(std::string_view text, bool stop_at_first) const;
  uint32_t unit(size_t at) const;
  std::string_view replacement(uint32_t at) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string where_;
  std::string blob_;
  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace isobit

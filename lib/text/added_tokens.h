// Added tokens: strings that become one token wherever they stand in the text, before any splitting
// or merging.
//
// Special tokens such as "<|im_start|>" are the usual ones. Tokens that are not `normalized` are
// looked for in the raw text; the rest in the normalised text between those. At each place the
// longest token wins, from left to right. Source: the added vocabulary of Hugging Face's
// `tokenizers`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // not when it touches a word character
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and the white space after it
  bool normalized = false;
  bool special = false;  // left out of decoded text on request

  bool operator==(const AddedToken&) const = default;
};

// A stretch of text: either one added token or text to be encoded.
struct TextSegment {
  std::string_view text;
  const AddedToken* token = nullptr;  // null: ordinary text
};

// Finds a set of strings, leftmost and longest first.
class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  // Token i is looked for as contents[i]; empty contents are never found. REQUIRES: tokens outlive
  // the matcher.
  AddedTokenMatcher(std::vector<const AddedToken*> tokens,
                    const std::vector<std::string>& contents);

  bool empty() const { return nodes_.empty(); }
  // Appends the segments of `text`, in order and without gaps; ordinary segments are never empty.
  void split(std::string_view text, std::vector<TextSegment>& segments) const;

 private:
  struct Edge {
    uint8_t byte;
    int32_t node;
  };
  struct Node {
    std::vector<Edge> edges;
    const AddedToken* token = nullptr;
  };
  struct Found {
    const AddedToken* token;
    size_t n_bytes;
  };
  int32_t child(int32_t node, uint8_t byte) const;  // -1: none
  Found longest_at(std::string_view text, size_t at) const;

  std::vector<Node> nodes_;
  std::array<bool, 256> begins_{};  // bytes that some token begins with
};

}  // namespace isobit

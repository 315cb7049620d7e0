// A prefix tree over token spellings: all tokens that a text begins with, in one walk.
//
// Nodes are ranges of the sorted spellings, laid out breadth first; edges of a node are adjacent
// and sorted, so the tree of a quarter of a million tokens takes a few megabytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isobit {

class TokenTrie {
 public:
  TokenTrie() = default;
  // Spellings are not empty and all different.
  explicit TokenTrie(std::vector<std::pair<std::string_view, int32_t>> tokens);

  // Calls found(n_bytes, id) for each token that `text` begins with, shortest first.
  template <typename Found>
  void for_each_prefix(std::string_view text, const Found& found) const {
    if (nodes_.empty()) return;
    uint32_t node = 0;
    for (size_t n = 0; n < text.size();) {
      node = child(node, static_cast<uint8_t>(text[n]));
      if (node == 0) return;
      ++n;
      if (nodes_[node].id >= 0) found(n, nodes_[node].id);
    }
  }

 private:
  struct Node {
    uint32_t first_child = 0;
    uint16_t n_children = 0;
    uint8_t byte = 0;  // of the edge that leads here
    int32_t id = -1;
  };
  uint32_t child(uint32_t node, uint8_t byte) const;  // 0: none

  std::vector<Node> nodes_;
};

}  // namespace isobit

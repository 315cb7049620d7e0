#include "text/token_trie.h"

#include <algorithm>

namespace isobit {

TokenTrie::TokenTrie(std::vector<std::pair<std::string_view, int32_t>> tokens) {
  std::sort(tokens.begin(), tokens.end());
  struct Range {
    size_t begin, end, depth;  // tokens that share their first `depth` bytes
  };
  std::vector<Range> ranges{{0, tokens.size(), 0}};  // parallel to nodes_
  nodes_.emplace_back();
  for (size_t at = 0; at < nodes_.size(); ++at) {
    auto [begin, end, depth] = ranges[at];
    if (begin < end && tokens[begin].first.size() == depth) nodes_[at].id = tokens[begin++].second;
    nodes_[at].first_child = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char byte = tokens[begin].first[depth];
      size_t after = begin;
      while (after < end && tokens[after].first[depth] == byte) ++after;
      Node node;
      node.byte = static_cast<uint8_t>(byte);
      nodes_.push_back(node);
      ranges.push_back({begin, after, depth + 1});
      ++nodes_[at].n_children;
      begin = after;
    }
  }
}

uint32_t TokenTrie::child(uint32_t node, uint8_t byte) const {
  const auto begin = nodes_.begin() + nodes_[node].first_child;
  const auto end = begin + nodes_[node].n_children;
  const auto it =
      std::lower_bound(begin, end, byte, [](const Node& n, uint8_t b) { return n.byte < b; });
  return it != end && it->byte == byte ? static_cast<uint32_t>(it - nodes_.begin()) : 0;
}

}  // namespace isobit

#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"

namespace isobit {
namespace {

size_t white_space_before(std::string_view text, size_t end) {
  while (end > 0) {
    const CodePoint c = code_point_before(text, end);
    if (!is_white_space(c.value)) break;
    end -= c.n_bytes;
  }
  return end;
}

size_t white_space_after(std::string_view text, size_t at) {
  while (at < text.size()) {
    const CodePoint c = code_point_at(text, at);
    if (!is_white_space(c.value)) break;
    at += c.n_bytes;
  }
  return at;
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word_character(code_point_before(text, begin).value)) ||
         (end < text.size() && is_word_character(code_point_at(text, end).value));
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<const AddedToken*> tokens,
                                     const std::vector<std::string>& contents) {
  if (tokens.empty()) return;
  nodes_.emplace_back();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (contents[i].empty()) continue;
    begins_[static_cast<uint8_t>(contents[i][0])] = true;
    int32_t node = 0;
    for (const char c : contents[i]) {
      const auto byte = static_cast<uint8_t>(c);
      int32_t next = child(node, byte);
      if (next < 0) {
        next = static_cast<int32_t>(nodes_.size());
        nodes_[static_cast<size_t>(node)].edges.push_back({byte, next});
        nodes_.emplace_back();
      }
      node = next;
    }
    // Two tokens may be equal once normalised; the one that was added first is found.
    Node& last = nodes_[static_cast<size_t>(node)];
    if (!last.token) last.token = tokens[i];
  }
}

int32_t AddedTokenMatcher::child(int32_t node, uint8_t byte) const {
  for (const Edge& edge : nodes_[static_cast<size_t>(node)].edges) {
    if (edge.byte == byte) return edge.node;
  }
  return -1;
}

AddedTokenMatcher::Found AddedTokenMatcher::longest_at(std::string_view text, size_t at) const {
  Found found{nullptr, 0};
  int32_t node = 0;
  for (size_t end = at; end < text.size();) {
    node = child(node, static_cast<uint8_t>(text[end++]));
    if (node < 0) break;
    if (const AddedToken* token = nodes_[static_cast<size_t>(node)].token)
      found = {token, end - at};
  }
  return found;
}

void AddedTokenMatcher::split(std::string_view text, std::vector<TextSegment>& segments) const {
  size_t done = 0;
  size_t at = 0;
  while (!empty() && at < text.size()) {
    if (!begins_[static_cast<uint8_t>(text[at])]) {
      ++at;
      continue;
    }
    const Found found = longest_at(text, at);
    if (!found.token) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + found.n_bytes;
    at = end;
    if (found.token->single_word && touches_word(text, begin, end)) continue;
    if (found.token->lstrip) begin = std::max(white_space_before(text, begin), done);
    if (found.token->rstrip) end = white_space_after(text, end);
    begin = std::max(
        begin, done);  // an rstrip before may have taken the white space this token is made of
    end = std::max(end, done);
    if (begin > done) segments.push_back({text.substr(done, begin - done), nullptr});
    segments.push_back({text.substr(begin, end - begin), found.token});
    done = end;
  }
  if (done < text.size()) segments.push_back({text.substr(done), nullptr});
}

}  // namespace isobit

#include "text/word_piece.h"

#include <algorithm>

#include "base/error.h"
#include "text/unicode.h"

namespace isobit {
namespace {

bool has_more_characters(std::string_view word, size_t limit) {
  size_t n = 0;
  for (size_t at = 0; at < word.size(); at += code_point_at(word, at).n_bytes) {
    if (++n > limit) return true;
  }
  return false;
}

size_t character_start(std::string_view word, size_t at) {
  while (at < word.size() && (static_cast<unsigned char>(word[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

WordPieceModel::WordPieceModel(std::vector<std::string> tokens, int32_t unknown_id,
                               const WordPieceOptions& options, const std::string& where)
    : vocabulary_(std::move(tokens), where), options_(options), unknown_id_(unknown_id) {}

void WordPieceModel::encode(std::string_view word, std::string& scratch,
                            std::vector<int32_t>& ids) const {
  const size_t start = ids.size();
  if (!has_more_characters(word, options_.max_characters)) {
    for (size_t at = 0;;) {
      if (at == word.size()) return;
      const auto piece = longest_at(word, at, scratch);
      if (!piece) break;
      ids.push_back(piece->id);
      at += piece->n_bytes;
    }
  }
  ids.resize(start);
  ids.push_back(unknown_id_);
}

std::optional<WordPieceModel::Piece> WordPieceModel::longest_at(std::string_view word, size_t at,
                                                                std::string& scratch) const {
  const std::string_view prefix = at == 0 ? "" : std::string_view(options_.continuing_prefix);
  if (prefix.size() >= vocabulary_.max_token_bytes()) return std::nullopt;
  const size_t longest = vocabulary_.max_token_bytes() - prefix.size();
  size_t end = character_start(word, std::min(word.size(), at + longest));
  scratch = prefix;
  scratch += word.substr(at, end - at);
  while (end > at) {
    if (const auto id = vocabulary_.id_of(scratch)) return Piece{*id, end - at};
    const size_t n_bytes = code_point_before(word, end).n_bytes;
    end -= n_bytes;
    scratch.resize(scratch.size() - n_bytes);
  }
  return std::nullopt;
}

WordLevelModel::WordLevelModel(std::vector<std::string> tokens, std::optional<int32_t> unknown_id,
                               const std::string& where)
    : vocabulary_(std::move(tokens), where), unknown_id_(unknown_id) {}

void WordLevelModel::encode(std::string_view word, std::vector<int32_t>& ids) const {
  const auto id = vocabulary_.id_of(word);
  if (!id && !unknown_id_) {
    throw Error(ErrorCode::usage, "text to encode: \"" + std::string(word.substr(0, 64)) +
                                      "\" is not in the vocabulary, which has no unknown token");
  }
  ids.push_back(id ? *id : *unknown_id_);
}

}  // namespace isobit

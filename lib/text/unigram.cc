#include "text/unigram.h"

#include <cmath>

#include "base/error.h"
#include "text/unicode.h"

namespace isobit {
namespace {

constexpr double kUnknownPenalty = 10.0;
constexpr int32_t kUnknown = -1;

}  // namespace

UnigramModel::UnigramModel(std::vector<std::string> tokens,
                           std::vector<std::optional<double>> scores, const UnigramOptions& options,
                           const std::string& where)
    : vocabulary_(std::move(tokens), where), scores_(std::move(scores)), options_(options) {
  ISOBIT_REQUIRE(scores_.size() == vocabulary_.tokens().size());
  std::vector<std::pair<std::string_view, int32_t>> matched;
  for (size_t id = 0; id < scores_.size(); ++id) {
    const std::string& token = vocabulary_.tokens()[id];
    if (!scores_[id] || token.empty()) continue;
    if (!std::isfinite(*scores_[id])) {
      throw Error(ErrorCode::environment,
                  where + ": the score of token " + std::to_string(id) + " is not a finite number");
    }
    matched.emplace_back(token, static_cast<int32_t>(id));
  }
  trie_ = TokenTrie(std::move(matched));
  if (options.byte_fallback) byte_tokens_ = ByteTokens(vocabulary_);
}

void UnigramModel::encode(std::string_view piece, UnigramScratch& scratch,
                          std::vector<int32_t>& ids) const {
  if (piece.empty()) return;
  find_best(piece, scratch);
  trace_back(piece, scratch);
  for (auto cut = scratch.cuts.rbegin(); cut != scratch.cuts.rend(); ++cut) {
    const std::string_view text = piece.substr(cut->first, cut->second - cut->first);
    if (const auto id = vocabulary_.id_of(text)) {
      ids.push_back(*id);
    } else if (!byte_tokens_.append(text, ids)) {
      if (!options_.unknown_id) {
        throw Error(ErrorCode::usage,
                    "text to encode: \"" + std::string(text.substr(0, 64)) +
                        "\" is not in the vocabulary, which has no unknown token");
      }
      ids.push_back(*options_.unknown_id);
    }
  }
}

void UnigramModel::find_best(std::string_view piece, UnigramScratch& scratch) const {
  const double unknown_score = options_.min_score - kUnknownPenalty;
  auto& ends = scratch.ends;
  ends.assign(piece.size() + 1, {0, kUnknown, 0});
  for (size_t at = 0; at < piece.size();) {
    const double so_far = ends[at].score;
    const size_t n_character = code_point_at(piece, at).n_bytes;
    const auto offer = [&](size_t n_bytes, int32_t id, double score) {
      auto& best = ends[at + n_bytes];
      if (best.n_bytes == 0 || score > best.score)
        best = {score, id, static_cast<uint32_t>(n_bytes)};
    };
    bool is_token = false;
    trie_.for_each_prefix(piece.substr(at), [&](size_t n_bytes, int32_t id) {
      offer(n_bytes, id, *scores_[static_cast<size_t>(id)] + so_far);
      is_token = is_token || n_bytes == n_character;
    });
    if (!is_token) offer(n_character, kUnknown, unknown_score + so_far);
    at += n_character;
  }
}

void UnigramModel::trace_back(std::string_view piece, UnigramScratch& scratch) const {
  scratch.cuts.clear();
  bool after_unknown = false;
  for (size_t end = piece.size(); end > 0;) {
    const auto& best = scratch.ends[end];
    const size_t begin = end - best.n_bytes;
    const bool unknown = best.id == kUnknown || best.id == options_.unknown_id;
    if (unknown && after_unknown) {
      scratch.cuts.back().first = static_cast<uint32_t>(begin);
    } else {
      scratch.cuts.emplace_back(static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
    }
    after_unknown = unknown;
    end = begin;
  }
}

}  // namespace isobit

#include "text/spm.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "text/unicode.h"

namespace isobit {
namespace {

constexpr int32_t kEnd = -1;

// Highest score first, then leftmost: the order of std::push_heap is the greatest first.
bool comes_later(const SpmScratch::Candidate& a, const SpmScratch::Candidate& b) {
  return a.score != b.score ? a.score < b.score : a.left > b.left;
}

void start_symbols(std::string_view piece, std::vector<SpmScratch::Symbol>& symbols) {
  symbols.clear();
  for (size_t at = 0; at < piece.size();) {
    const size_t n_bytes = code_point_at(piece, at).n_bytes;
    const auto index = static_cast<int32_t>(symbols.size());
    symbols.push_back({.begin = static_cast<uint32_t>(at),
                       .n_bytes = static_cast<uint32_t>(n_bytes),
                       .previous = index - 1,
                       .next = index + 1});
    at += n_bytes;
  }
  if (!symbols.empty()) symbols.back().next = kEnd;
}

}  // namespace

SpmModel::SpmModel(std::vector<std::string> tokens, std::vector<float> scores,
                   std::optional<int32_t> unknown_id, const std::string& where)
    : vocabulary_(std::move(tokens), where),
      scores_(std::move(scores)),
      byte_tokens_(vocabulary_),
      unknown_id_(unknown_id) {
  ISOBIT_REQUIRE(scores_.size() == vocabulary_.tokens().size());
  for (size_t id = 0; id < scores_.size(); ++id) {
    if (!std::isfinite(scores_[id])) {
      throw Error(ErrorCode::environment,
                  where + ": the score of token " + std::to_string(id) + " is not a finite number");
    }
  }
}

void SpmModel::encode(std::string_view piece, SpmScratch& scratch,
                      std::vector<int32_t>& ids) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  start_symbols(piece, symbols);
  heap.clear();
  const auto at = [&](int32_t i) -> SpmScratch::Symbol& { return symbols[static_cast<size_t>(i)]; };
  const auto candidate = [&](int32_t left) {
    if (left == kEnd || at(left).next == kEnd) return false;
    const uint32_t n_bytes = at(left).n_bytes + at(at(left).next).n_bytes;
    if (n_bytes > vocabulary_.max_token_bytes()) return false;
    const auto id = vocabulary_.id_of(piece.substr(at(left).begin, n_bytes));
    if (id)
      heap.push_back(
          {.score = scores_[static_cast<size_t>(*id)], .left = left, .n_bytes = n_bytes});
    return id.has_value();
  };
  for (size_t i = 0; i < symbols.size(); ++i) candidate(static_cast<int32_t>(i));
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const SpmScratch::Candidate best = heap.back();
    heap.pop_back();
    auto& left = at(best.left);
    if (left.n_bytes == 0 || left.next == kEnd) continue;
    auto& right = at(left.next);
    if (left.n_bytes + right.n_bytes != best.n_bytes) continue;  // one of them has grown since
    left.n_bytes = best.n_bytes;
    right.n_bytes = 0;
    left.next = right.next;
    if (right.next != kEnd) at(right.next).previous = best.left;
    if (candidate(best.left)) std::push_heap(heap.begin(), heap.end(), comes_later);
    if (candidate(left.previous)) std::push_heap(heap.begin(), heap.end(), comes_later);
  }
  bool after_unknown = false;
  for (int32_t i = symbols.empty() ? kEnd : 0; i != kEnd; i = at(i).next)
    append_symbol(piece.substr(at(i).begin, at(i).n_bytes), ids, after_unknown);
}

void SpmModel::append_symbol(std::string_view text, std::vector<int32_t>& ids,
                             bool& after_unknown) const {
  if (const auto id = vocabulary_.id_of(text)) {
    ids.push_back(*id);
    after_unknown = false;
  } else if (byte_tokens_.append(text, ids)) {
    after_unknown = false;
  } else if (unknown_id_) {
    if (!after_unknown) ids.push_back(*unknown_id_);
    after_unknown = true;
  }
}

}  // namespace isobit

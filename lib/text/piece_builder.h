// Cutting a piece of text at matches: what each SplitBehaviour makes of matched and unmatched
// stretches.
#pragma once

#include <string_view>
#include <vector>

#include "text/pre_tokenizer.h"

namespace isobit {

// Receives alternating stretches of one piece, in order, and applies a SplitBehaviour. Empty
// stretches end runs, as they do in the library whose behaviour this is, but are never pieces
// themselves.
class PieceBuilder {
 public:
  PieceBuilder(SplitBehaviour behaviour, bool inverted, std::vector<std::string_view>& out)
      : behaviour_(behaviour), inverted_(inverted), out_(out) {}
  PieceBuilder(const PieceBuilder&) = delete;
  PieceBuilder& operator=(const PieceBuilder&) = delete;

  void add(std::string_view stretch, bool matched) {
    matched = matched != inverted_;
    switch (behaviour_) {
      case SplitBehaviour::kRemoved:
        if (!matched) emit(stretch);
        return;
      case SplitBehaviour::kIsolated:
        emit(stretch);
        return;
      case SplitBehaviour::kMergedWithPrevious:
        // A match joins the stretch before it, unless that was a match too.
        if (matched && has_held_ && !held_is_match_) return extend(stretch, matched);
        return hold(stretch, matched);
      case SplitBehaviour::kMergedWithNext:
        if (!matched && has_held_ && held_is_match_) return extend(stretch, matched);
        return hold(stretch, matched);
      case SplitBehaviour::kContiguous:
        if (has_held_ && matched == held_is_match_) return extend(stretch, matched);
        return hold(stretch, matched);
    }
  }
  void finish() {
    if (has_held_) emit(held_);
    has_held_ = false;
  }

 private:
  void emit(std::string_view piece) {
    if (!piece.empty()) out_.push_back(piece);
  }
  void hold(std::string_view stretch, bool matched) {
    finish();
    held_ = stretch;
    held_is_match_ = matched;
    has_held_ = true;
  }
  void extend(std::string_view stretch, bool matched) {
    held_ = std::string_view(held_.data(), held_.size() + stretch.size());
    held_is_match_ = matched;
  }

  SplitBehaviour behaviour_;
  bool inverted_;
  std::vector<std::string_view>& out_;
  std::string_view held_;
  bool held_is_match_ = false;
  bool has_held_ = false;
};

template <typename ForEachMatch>
void split_by_matches(std::string_view piece, PieceBuilder& builder, const ForEachMatch& for_each) {
  size_t done = 0;
  for_each([&](size_t begin, size_t end) {
    if (begin > done) builder.add(piece.substr(done, begin - done), false);
    builder.add(piece.substr(begin, end - begin), true);
    done = end;
  });
  if (done < piece.size()) builder.add(piece.substr(done), false);
  builder.finish();
}

// digit_groups.cc. Appends the pieces of `piece`.
void split_digit_groups(std::string_view piece, DigitGroups groups,
                        std::vector<std::string_view>& out);

}  // namespace isobit

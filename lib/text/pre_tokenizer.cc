#include "text/pre_tokenizer.h"

#include "base/error.h"
#include "text/regex_dialect.h"
#include "text/unicode.h"

namespace isobit {
namespace {

// Contractions, words, numbers, other symbols (each with at most one leading space), then white
// space; the last space before a word is left to the word. Source: the GPT-2 tokenizer.
constexpr const char* kGpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

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

// Calls found(begin, end) for each match in `piece`.
template <typename Found>
void for_each_match(const Regex& regex, std::string_view piece, RegexScratch& scratch,
                    const Found& found) {
  for (size_t at = 0; at < piece.size();) {
    const auto match = regex.find(piece, at, scratch);
    if (!match) return;
    if (match->end == match->begin) {
      throw Error(ErrorCode::environment,
                  "the pre-tokenizer's regular expression matched an empty text at byte " +
                      std::to_string(match->begin) + "; it cannot cut text into pieces");
    }
    found(match->begin, match->end);
    at = match->end;
  }
}

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

struct StageRunner {
  std::string_view piece;
  PreTokenizerScratch& scratch;
  std::vector<std::string_view>& out;

  void operator()(const RegexSplit& stage) const {
    PieceBuilder builder(stage.behaviour, stage.inverted, out);
    split_by_matches(piece, builder, [&](const auto& found) {
      for_each_match(stage.regex, piece, scratch.regex, found);
    });
  }
  void operator()(const LiteralSplit& stage) const {
    PieceBuilder builder(stage.behaviour, stage.inverted, out);
    split_by_matches(piece, builder, [&](const auto& found) {
      for (size_t at = piece.find(stage.literal); at != std::string_view::npos;
           at = piece.find(stage.literal, at + stage.literal.size())) {
        found(at, at + stage.literal.size());
      }
    });
  }
  void operator()(const DigitsSplit& stage) const {
    PieceBuilder builder(stage.individual ? SplitBehaviour::kIsolated : SplitBehaviour::kContiguous,
                         false, out);
    split_by_matches(piece, builder, [&](const auto& found) {
      for (size_t at = 0; at < piece.size();) {
        const CodePoint c = code_point_at(piece, at);
        if (c.value < 0x80 ? c.value - '0' < 10 : is_numeric(c.value)) found(at, at + c.n_bytes);
        at += c.n_bytes;
      }
    });
  }
  void operator()(const ByteLevelSplit& stage) const {
    std::string_view text = piece;
    if (stage.add_prefix_space && text.front() != ' ') {
      text = scratch.prefixed.emplace_back(" " + std::string(text));
    }
    if (!stage.regex) {
      out.push_back(text);
      return;
    }
    PieceBuilder builder(SplitBehaviour::kIsolated, false, out);
    split_by_matches(text, builder, [&](const auto& found) {
      for_each_match(*stage.regex, text, scratch.regex, found);
    });
  }
};

const char* name(SplitBehaviour behaviour) {
  switch (behaviour) {
    case SplitBehaviour::kRemoved:
      return "Removed";
    case SplitBehaviour::kIsolated:
      return "Isolated";
    case SplitBehaviour::kMergedWithPrevious:
      return "MergedWithPrevious";
    case SplitBehaviour::kMergedWithNext:
      return "MergedWithNext";
    case SplitBehaviour::kContiguous:
      return "Contiguous";
  }
  return "";
}

struct StageDescriber {
  Json operator()(const RegexSplit& s) const {
    return {{"type", "Split"},
            {"regex", s.pattern},
            {"behavior", name(s.behaviour)},
            {"invert", s.inverted}};
  }
  Json operator()(const LiteralSplit& s) const {
    return {{"type", "Split"},
            {"string", s.literal},
            {"behavior", name(s.behaviour)},
            {"invert", s.inverted}};
  }
  Json operator()(const DigitsSplit& s) const {
    return {{"type", "Digits"}, {"individual_digits", s.individual}};
  }
  Json operator()(const ByteLevelSplit& s) const {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", s.add_prefix_space},
            {"use_regex", s.regex.has_value()}};
  }
};

}  // namespace

RegexSplit regex_split(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                       const std::string& where) {
  return {.pattern = pattern,
          .regex = Regex(pcre2_pattern_from_oniguruma(pattern, where), where),
          .behaviour = behaviour,
          .inverted = inverted};
}

ByteLevelSplit byte_level_split(bool add_prefix_space, bool use_regex) {
  ByteLevelSplit stage{.add_prefix_space = add_prefix_space, .regex = std::nullopt};
  if (use_regex)
    stage.regex.emplace(pcre2_pattern_from_oniguruma(kGpt2Pattern, "ByteLevel"), "ByteLevel");
  return stage;
}

const std::vector<std::string_view>& PreTokenizer::split(std::string_view text,
                                                         PreTokenizerScratch& scratch) const {
  scratch.pieces.clear();
  scratch.prefixed.clear();
  if (!text.empty()) scratch.pieces.push_back(text);
  for (const PreTokenizerStage& stage : stages_) {
    scratch.next_pieces.clear();
    for (const std::string_view piece : scratch.pieces) {
      std::visit(StageRunner{.piece = piece, .scratch = scratch, .out = scratch.next_pieces},
                 stage);
    }
    scratch.pieces.swap(scratch.next_pieces);
  }
  return scratch.pieces;
}

Json PreTokenizer::description() const {
  Json stages = Json::array();
  for (const PreTokenizerStage& stage : stages_)
    stages.push_back(std::visit(StageDescriber{}, stage));
  return stages;
}

}  // namespace isobit

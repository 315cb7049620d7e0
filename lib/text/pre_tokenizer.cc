#include "text/pre_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/piece_builder.h"
#include "text/unicode.h"

namespace isobit {
namespace {

// Contractions, words, numbers, other symbols (each with at most one leading space), then white
// space; the last space before a word is left to the word. Source: the GPT-2 tokenizer.
constexpr const char* kGpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

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

struct StageRunner {
  std::string_view piece;
  TextPlace place;
  PreTokenizerScratch& scratch;
  std::vector<std::string_view>& out;

  void operator()(const RegexSplit& stage) const {
    PieceBuilder builder(stage.behaviour, stage.inverted, out);
    split_by_matches(piece, builder, [&](const auto& found) {
      for_each_match(stage.regex.for_text(piece), piece, scratch.regex, found);
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
      text = scratch.rewritten.emplace_back(" " + std::string(text));
    }
    const size_t first = out.size();
    if (stage.regex) {
      PieceBuilder builder(SplitBehaviour::kIsolated, false, out);
      split_by_matches(text, builder, [&](const auto& found) {
        for_each_match(stage.regex->for_text(text), text, scratch.regex, found);
      });
    } else {
      out.push_back(text);
    }
    if (!stage.spells) return;
    for (size_t i = first; i < out.size(); ++i)
      out[i] = scratch.rewritten.emplace_back(to_byte_level(out[i]));
  }
  void operator()(const PunctuationSplit& stage) const {
    PieceBuilder builder(stage.behaviour, false, out);
    split_by_matches(piece, builder, [&](const auto& found) {
      for_each_character([](uint32_t c) { return is_punctuation(c); }, found);
    });
  }
  void operator()(const WhiteSpaceSplit&) const {
    PieceBuilder builder(SplitBehaviour::kRemoved, false, out);
    split_by_matches(piece, builder, [&](const auto& found) {
      for_each_character([](uint32_t c) { return is_white_space(c); }, found);
    });
  }
  void operator()(const WordSplit&) const {
    enum Kind { kSpace, kWord, kOther };
    Kind kind = kSpace;
    size_t begin = 0;
    for (size_t at = 0; at <= piece.size();) {
      const CodePoint c = at < piece.size() ? code_point_at(piece, at) : CodePoint{' ', 1};
      const Kind next = is_word_character(c.value) ? kWord
                        : is_white_space(c.value)  ? kSpace
                                                   : kOther;
      if (next != kind) {
        if (kind != kSpace) out.push_back(piece.substr(begin, at - begin));
        kind = next;
        begin = at;
      }
      at += c.n_bytes;
    }
  }
  void operator()(const MetaspaceSplit& stage) const {
    const std::string_view text = with_metaspace(stage);
    if (!stage.split) {
      out.push_back(text);
      return;
    }
    PieceBuilder builder(SplitBehaviour::kMergedWithNext, false, out);
    split_by_matches(text, builder, [&](const auto& found) {
      for (size_t at = text.find(stage.replacement); at != std::string_view::npos;
           at = text.find(stage.replacement, at + stage.replacement.size())) {
        found(at, at + stage.replacement.size());
      }
    });
  }
  void operator()(const DigitGroupSplit& stage) const {
    split_digit_groups(piece, stage.groups, out);
  }

  template <typename Test, typename Found>
  void for_each_character(const Test& test, const Found& found) const {
    for (size_t at = 0; at < piece.size();) {
      const CodePoint c = code_point_at(piece, at);
      if (test(c.value)) found(at, at + c.n_bytes);
      at += c.n_bytes;
    }
  }
  std::string_view with_metaspace(const MetaspaceSplit& stage) const {
    std::string text;
    for (const char c : piece) {
      if (c == ' ') {
        text += stage.replacement;
      } else {
        text += c;
      }
    }
    const bool prepend = stage.scheme == PrependScheme::kAlways ||
                         (stage.scheme == PrependScheme::kFirst && place == TextPlace::kStart);
    if (prepend && !text.starts_with(stage.replacement)) text.insert(0, stage.replacement);
    return scratch.rewritten.emplace_back(std::move(text));
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
  Json operator()(const PunctuationSplit& s) const {
    return {{"type", "Punctuation"}, {"behavior", name(s.behaviour)}};
  }
  Json operator()(const WhiteSpaceSplit&) const { return {{"type", "WhitespaceSplit"}}; }
  Json operator()(const WordSplit&) const { return {{"type", "Whitespace"}}; }
  Json operator()(const MetaspaceSplit& s) const {
    return {{"type", "Metaspace"},
            {"replacement", s.replacement},
            {"prepend_scheme", s.scheme == PrependScheme::kAlways  ? "always"
                               : s.scheme == PrependScheme::kFirst ? "first"
                                                                   : "never"},
            {"split", s.split}};
  }
  Json operator()(const DigitGroupSplit& s) const {
    return {{"type", "DigitGroups"},
            {"groups", s.groups == DigitGroups::kOfNumbers           ? "numbers"
                       : s.groups == DigitGroups::kOfDigitsAtWordEnd ? "digits at word ends"
                                                                     : "cut before"}};
  }
};

}  // namespace

RegexSplit regex_split(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                       const std::string& where) {
  return {.pattern = pattern,
          .regex = OnigurumaRegex(pattern, where),
          .behaviour = behaviour,
          .inverted = inverted};
}

ByteLevelSplit byte_level_split(bool add_prefix_space, bool use_regex) {
  ByteLevelSplit stage{.add_prefix_space = add_prefix_space, .regex = std::nullopt};
  if (use_regex) stage.regex.emplace(kGpt2Pattern, "ByteLevel");
  return stage;
}

PreTokenizer::PreTokenizer(std::vector<PreTokenizerStage> stages) : stages_(std::move(stages)) {
  size_t n_byte_level = 0;
  for (size_t i = 0; i < stages_.size(); ++i) {
    auto* stage = std::get_if<ByteLevelSplit>(&stages_[i]);
    if (!stage) continue;
    stage->spells = i + 1 < stages_.size();
    ++n_byte_level;
  }
  ISOBIT_REQUIRE(n_byte_level <= 1);
}

bool PreTokenizer::gives_bytes() const {
  return !stages_.empty() && std::holds_alternative<ByteLevelSplit>(stages_.back());
}

bool PreTokenizer::is_byte_level() const {
  return std::any_of(stages_.begin(), stages_.end(), [](const PreTokenizerStage& stage) {
    return std::holds_alternative<ByteLevelSplit>(stage);
  });
}

const std::vector<std::string_view>& PreTokenizer::split(std::string_view text, TextPlace place,
                                                         PreTokenizerScratch& scratch) const {
  scratch.pieces.clear();
  scratch.rewritten.clear();
  if (!text.empty()) scratch.pieces.push_back(text);
  for (const PreTokenizerStage& stage : stages_) {
    scratch.next_pieces.clear();
    for (const std::string_view piece : scratch.pieces) {
      const bool is_first = piece.data() == scratch.pieces.front().data();
      std::visit(StageRunner{.piece = piece,
                             .place = is_first ? place : TextPlace::kLater,
                             .scratch = scratch,
                             .out = scratch.next_pieces},
                 stage);
    }
    // White space removed in front leaves no piece that begins where the text does.
    const bool removes =
        std::holds_alternative<WhiteSpaceSplit>(stage) || std::holds_alternative<WordSplit>(stage);
    const bool moved = removes && !scratch.pieces.empty() && !scratch.next_pieces.empty() &&
                       scratch.next_pieces.front().data() != scratch.pieces.front().data();
    if (moved) place = TextPlace::kLater;
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

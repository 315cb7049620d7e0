// Pre-tokenization: cutting normalised text into the pieces that byte-pair merges never cross.
//
// A pre-tokenizer is a list of stages; each cuts every piece of the one before. Behaviour follows
// Hugging Face's `tokenizers`; a stage that is not here is refused by name when it is read.
//
// ByteLevel may put a space in front of a piece and cut it by GPT-2's pattern. Where it is the last
// stage, pieces stay raw bytes and the model reads them as such. Where stages follow it (Falcon),
// they see its alphabet, in which the byte 0xB2 is the digit "²": then pieces are spelled in that
// alphabet and the model reads characters.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/regex.h"
#include "text/regex_dialect.h"

namespace isobit {

// What happens to the text that a pattern matches.
enum class SplitBehaviour {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous
};

struct RegexSplit {
  std::string pattern;  // as written, in Oniguruma's dialect
  OnigurumaRegex regex;
  SplitBehaviour behaviour;
  bool inverted;  // the text between matches counts as matched
};
struct LiteralSplit {
  std::string literal;
  SplitBehaviour behaviour;
  bool inverted;
};
struct DigitsSplit {
  bool individual;
};
struct ByteLevelSplit {
  bool add_prefix_space;
  std::optional<OnigurumaRegex> regex;  // GPT-2's pattern, when it is used
  bool spells = false;                  // pieces come out in the byte alphabet; set by PreTokenizer
};
struct PunctuationSplit {  // ASCII punctuation and the categories P*
  SplitBehaviour behaviour;
};
struct WhiteSpaceSplit {};  // white space is removed
struct WordSplit {};        // runs of word characters, runs of others; white space is removed

// Whether a piece is given the replacement character in front, when it does not begin with it.
enum class PrependScheme { kAlways, kFirst, kNever };  // kFirst: at the start of the text only
struct MetaspaceSplit {
  std::string replacement;  // stands for a space
  PrependScheme scheme;
  bool split;  // a piece begins at each replacement
};

// Runs of digits cut into threes counted from their ends, in one pass: written as a regular
// expression the look-ahead reads the rest of the run again for every group.
enum class DigitGroups {
  kOfNumbers,          // \p{N}: 1 234 567
  kOfDigitsAtWordEnd,  // \d, only where no word character follows the run
  kCutBefore           // \d, cut before each three; what is left over stays with the text before it
};
struct DigitGroupSplit {
  DigitGroups groups;
};
using PreTokenizerStage =
    std::variant<RegexSplit, LiteralSplit, DigitsSplit, ByteLevelSplit, PunctuationSplit,
                 WhiteSpaceSplit, WordSplit, MetaspaceSplit, DigitGroupSplit>;

RegexSplit regex_split(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                       const std::string& where);
ByteLevelSplit byte_level_split(bool add_prefix_space, bool use_regex);

// Reused between calls; one per thread.
struct PreTokenizerScratch {
  RegexScratch regex;
  std::vector<std::string_view> pieces;
  std::vector<std::string_view> next_pieces;
  std::deque<std::string> rewritten;  // pieces that a stage changed: views into these must not move
};

enum class TextPlace { kStart, kLater };  // is this the start of the whole text?

class PreTokenizer {
 public:
  PreTokenizer() = default;
  // REQUIRES: at most one stage is ByteLevel.
  explicit PreTokenizer(std::vector<PreTokenizerStage> stages);

  // The pieces of `text`, in scratch.pieces: non-empty views into `text` or into the scratch, valid
  // until the next call. REQUIRES: text is well-formed UTF-8.
  const std::vector<std::string_view>& split(std::string_view text, TextPlace place,
                                             PreTokenizerScratch& scratch) const;

  bool gives_bytes() const;    // the last stage is ByteLevel
  bool is_byte_level() const;  // some stage is
  const std::vector<PreTokenizerStage>& stages() const { return stages_; }
  Json description() const;  // all that decides the pieces, for digests and for people

 private:
  std::vector<PreTokenizerStage> stages_;
};

// Reads the "pre_tokenizer" member of a tokenizer.json. Throws Error(environment) naming `where`
// and the member.
PreTokenizer read_pre_tokenizer(const Json& value, const std::string& where);

// A GGUF's `tokenizer.ggml.pre`. Throws Error(environment) naming the unknown preset and the known
// ones.
struct PreTokenizerPreset {
  PreTokenizer pre_tokenizer;
  bool nfc = false;
  bool escape_spaces =
      false;  // a space becomes U+2581 first: merges are over characters, not bytes
  bool ignore_merges = false;
  bool add_bos_by_default = false;
};
PreTokenizerPreset pre_tokenizer_preset(const std::string& name, const std::string& where);
std::vector<std::string> pre_tokenizer_preset_names();  // ascending

}  // namespace isobit

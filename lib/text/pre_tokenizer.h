// Pre-tokenization: cutting normalised text into the pieces that byte-pair merges never cross.
//
// A pre-tokenizer is a list of stages; each cuts every piece of the one before. The last stage of a
// byte-level tokenizer is ByteLevel, which may put a space in front of a piece and cut it by
// GPT-2's pattern. Behaviour follows Hugging Face's `tokenizers` (Split, Digits, ByteLevel,
// Sequence); a stage that is not here is refused by name when it is read.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/regex.h"

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
  Regex regex;
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
  std::optional<Regex> regex;  // GPT-2's pattern, when it is used
};
using PreTokenizerStage = std::variant<RegexSplit, LiteralSplit, DigitsSplit, ByteLevelSplit>;

RegexSplit regex_split(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                       const std::string& where);
ByteLevelSplit byte_level_split(bool add_prefix_space, bool use_regex);

// Reused between calls; one per thread.
struct PreTokenizerScratch {
  RegexScratch regex;
  std::vector<std::string_view> pieces;
  std::vector<std::string_view> next_pieces;
  std::deque<std::string>
      prefixed;  // pieces that were given a space: views into these must not move
};

class PreTokenizer {
 public:
  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<PreTokenizerStage> stages) : stages_(std::move(stages)) {}

  // The pieces of `text`, in scratch.pieces: non-empty views into `text` or into the scratch, valid
  // until the next call. REQUIRES: text is well-formed UTF-8.
  const std::vector<std::string_view>& split(std::string_view text,
                                             PreTokenizerScratch& scratch) const;

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
  bool ignore_merges = false;
  bool add_bos_by_default = false;
};
PreTokenizerPreset pre_tokenizer_preset(const std::string& name, const std::string& where);

}  // namespace isobit

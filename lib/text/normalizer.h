// Normalization: what a tokenizer does to text before it is cut into pieces.
//
// A list of steps, each applied to the result of the one before. Behaviour follows Hugging Face's
// `tokenizers` and, for what only GGUF files ask for, llama.cpp; a step that is not here is refused
// by name when it is read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/charsmap.h"
#include "text/regex.h"
#include "text/regex_dialect.h"
#include "text/unicode.h"

namespace isobit {

struct UnicodeFormStep {
  UnicodeForm form;
};
struct LowercaseStep {};     // character by character, as Unicode's full mapping has it
struct StripAccentsStep {};  // without combining marks (M*)
struct StripStep {           // white space at the ends
  bool left;
  bool right;
};
struct ReplaceStep {
  std::string pattern;                  // a literal, or a regular expression in Oniguruma's dialect
  std::optional<OnigurumaRegex> regex;  // when it is one
  std::string content;
};
struct PrependStep {
  std::string text;  // not before an empty text
};
struct BertStep {
  bool clean_text;  // without control characters, white space to spaces
  bool handle_chinese_chars;
  bool strip_accents;
  bool lowercase;
};
struct NmtStep {};  // without control characters, odd spaces to spaces
struct CharsmapStep {
  std::shared_ptr<const Charsmap> map;
  // The `tokenizers` library maps short grapheme clusters as a whole, else their characters, by the
  // shortest entry; SentencePiece and llama.cpp take the longest entry at each place.
  bool by_grapheme;
};
struct SentencePieceSpacesStep {  // a space is U+2581 afterwards
  bool prepend;                   // one in front of the text
  bool merge;                     // one for a run, none at the ends
};
using NormalizerStep =
    std::variant<UnicodeFormStep, LowercaseStep, StripAccentsStep, StripStep, ReplaceStep,
                 PrependStep, BertStep, NmtStep, CharsmapStep, SentencePieceSpacesStep>;

class Normalizer {
 public:
  Normalizer() = default;
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

  bool empty() const { return steps_.empty(); }
  // REQUIRES: text is well-formed UTF-8, which the result is too.
  std::string apply(std::string_view text, RegexScratch& scratch) const;
  Json description() const;  // all that decides the result, for digests and for people

 private:
  std::vector<NormalizerStep> steps_;
};

// Throws Error(environment), naming `where`, on a regular expression that is not understood.
ReplaceStep replace_literal(const std::string& literal, const std::string& content);
ReplaceStep replace_regex(const std::string& pattern, const std::string& content,
                          const std::string& where);

// Reads the "normalizer" member of a tokenizer.json. Throws Error(environment) naming `where` and
// the member.
Normalizer read_normalizer(const Json& value, const std::string& where);

}  // namespace isobit

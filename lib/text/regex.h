// Regular expressions over UTF-8, through PCRE2: JIT-compiled, Unicode classes, and limits instead
// of a stack overflow.
//
// Patterns of tokenizers are written for Oniguruma (which Hugging Face's `tokenizers` uses) and are
// translated first, by regex_dialect.h. A compiled Regex is immutable and may be shared between
// threads; the match state is a RegexScratch, one per thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace isobit {

class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(const RegexScratch&) = delete;
  RegexScratch& operator=(const RegexScratch&) = delete;

 private:
  friend class Regex;
  struct State;
  std::unique_ptr<State> state_;
};

class Regex {
 public:
  struct Match {
    size_t begin;
    size_t end;
  };

  // `pattern` is in PCRE2's syntax. Throws Error(environment) with `where`, the offset and the
  // reason.
  Regex(const std::string& pattern, const std::string& where);

  // The first match at or after byte `from`. REQUIRES: subject is well-formed UTF-8, `from` starts
  // a code point or is its end. Throws Error(environment) when the pattern backtracks past its
  // limit.
  std::optional<Match> find(std::string_view subject, size_t from, RegexScratch& scratch) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
  std::string where_;
};

}  // namespace isobit

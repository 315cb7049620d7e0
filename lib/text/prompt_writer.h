// Writes natural text from the patterns of prompt_words.h, by a seeded generator of its own
// (splitmix64), so that every machine and every standard library writes the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/prompt_words.h"

namespace isobit {

class PromptWriter {
 public:
  explicit PromptWriter(uint64_t seed);

  std::string fill(std::string_view pattern);  // one pattern, its slots filled
  std::string short_request(const PromptKind& kind, size_t target_tokens);
  std::string long_request(const PromptKind& kind, size_t target_tokens);
  // Sentences about one subject, in the present scene, until about `n_tokens` are reached; then
  // about another subject.
  std::string passage(size_t n_tokens);

  void new_scene();  // another hero in another place

  uint64_t next();
  size_t below(size_t n);  // REQUIRES: n > 0

 private:
  std::string_view pick(WordList words) { return words[below(words.size())]; }
  std::string slot(std::string_view name);

  uint64_t state_;
  std::string_view hero_;
  std::string_view place_;
};

// About how many tokens a byte-level BPE vocabulary of 50,000 gives English text: words, marks,
// digits and line breaks.
size_t estimate_tokens(std::string_view text);

}  // namespace isobit

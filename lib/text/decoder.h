// Decoding: what a token, as a vocabulary spells it, contributes to text.
//
// A list of steps in the manner of Hugging Face's `tokenizers`. What is there defined over the list
// of all tokens is here a function of one token and of whether it is the first, and a last cut at
// the ends of the whole text, so that text can be streamed. One difference: bytes that are not
// UTF-8 are returned as they are, where that library has U+FFFD.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace isobit {

struct DecodeByteLevel {};     // the byte alphabet; what is outside of it stays as it is
struct DecodeByteFallback {};  // "<0x0A>" is a byte
struct DecodeReplace {
  std::string literal;
  std::string content;
};
struct DecodeStrip {  // up to so many of one character at the ends
  std::string character;
  size_t n_start;
  size_t n_stop;
};
struct DecodeMetaspace {  // a space for the replacement, nothing in the first token when it was
                          // prepended
  std::string replacement;
  bool prepended;
};
struct DecodeWordPiece {  // a space before each token but the first and those with the prefix
  std::string prefix;
  bool cleanup;  // no space before punctuation and English contractions
};
struct DecodeSpaced {};  // a space before each token but the first
using DecoderStep = std::variant<DecodeByteLevel, DecodeByteFallback, DecodeReplace, DecodeStrip,
                                 DecodeMetaspace, DecodeWordPiece, DecodeSpaced>;

enum class TokenPlace { kFirst, kLater };

class Decoder {
 public:
  Decoder() = default;
  // `final_strip` is applied once, to the text of all tokens.
  Decoder(std::vector<DecoderStep> steps, std::optional<DecodeStrip> final_strip)
      : steps_(std::move(steps)), final_strip_(std::move(final_strip)) {}

  std::string token_bytes(std::string_view token, TokenPlace place) const;
  // The text of all tokens, from the bytes of each.
  std::string finish(std::string bytes) const;
  bool is_byte_level() const;
  Json description() const;

 private:
  std::vector<DecoderStep> steps_;
  std::optional<DecodeStrip> final_strip_;
};

// Reads the "decoder" member of a tokenizer.json; null is spaces between tokens. Throws
// Error(environment) naming `where` and the member.
Decoder read_decoder(const Json& value, const std::string& where);

}  // namespace isobit

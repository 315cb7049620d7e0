// Bytes of tokens, as they come, to whole characters: one token may end in the middle of a
// character.
//
// Servers stream text and stop strings are text, so bytes are held back until the character they
// begin is complete. Bytes that can never be part of one become U+FFFD, each maximal part once, as
// the Unicode standard recommends (section 3.9).
#pragma once

#include <string>
#include <string_view>

namespace isobit {

class Utf8Stream {
 public:
  // The characters that `bytes` completes: well-formed UTF-8, perhaps "".
  std::string push(std::string_view bytes);
  // What is left at the end: "" or one U+FFFD.
  std::string finish();
  size_t n_held_bytes() const { return held_.size(); }

 private:
  std::string held_;  // the beginning of a character, at most 3 bytes
};

// All of `bytes` at once, invalid parts replaced.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace isobit

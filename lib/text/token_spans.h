// Which bytes of a text each of its tokens stands for.
//
// Known only where the tokens spell the text: a normalizer that changes it (NFC, lower case), a
// token that takes white space along or a byte that a vocabulary drops leaves no such places, and
// then none are claimed. Tokens that a tokenizer puts around a text by itself have no bytes in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace isobit {

struct TokenSpan {
  size_t begin;
  size_t end;
};

// (ids) bytes of `text`; nothing when the tokens do not spell it. `n_before` and `n_after` tokens
// at the ends are not of the text. REQUIRES: both together are at most ids.size().
std::optional<std::vector<TokenSpan>> token_spans(const Tokenizer& tokenizer, std::string_view text,
                                                  std::span<const int32_t> ids, size_t n_before,
                                                  size_t n_after);

}  // namespace isobit

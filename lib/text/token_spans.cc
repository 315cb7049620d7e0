#include "text/token_spans.h"

#include "base/error.h"

namespace isobit {

std::optional<std::vector<TokenSpan>> token_spans(const Tokenizer& tokenizer, std::string_view text,
                                                  std::span<const int32_t> ids, size_t n_before,
                                                  size_t n_after) {
  ISOBIT_REQUIRE(n_before + n_after <= ids.size());
  std::vector<TokenSpan> spans(n_before, TokenSpan{0, 0});
  size_t at = 0;
  bool is_first = true;
  for (const int32_t id : ids.subspan(n_before, ids.size() - n_before - n_after)) {
    std::string_view bytes =
        tokenizer.is_special(id) ? tokenizer.token_text(id) : tokenizer.token_bytes(id);
    // A space that was put in front of the text is in its first token and not in the text.
    const bool put_in_front = is_first && bytes.starts_with(' ') && !text.starts_with(bytes);
    if (put_in_front) bytes.remove_prefix(1);
    is_first = false;
    if (!text.substr(at).starts_with(bytes)) return std::nullopt;
    spans.push_back({at, at + bytes.size()});
    at += bytes.size();
  }
  if (at != text.size()) return std::nullopt;
  spans.resize(ids.size(), TokenSpan{text.size(), text.size()});
  return spans;
}

}  // namespace isobit

#include "text/text_stream.h"

#include "text/unicode.h"

namespace isobit {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  std::string text = std::move(held_);
  held_.clear();
  text += bytes;
  std::string out;
  std::string_view rest = text;
  while (const auto bad = find_invalid_utf8(rest)) {
    out += rest.substr(0, *bad);
    rest.remove_prefix(*bad);
    const size_t n = truncated_character_bytes(rest);
    if (n == rest.size()) {
      held_ = rest;
      return out;
    }
    out += kReplacement;
    rest.remove_prefix(n == 0 ? 1 : n);
  }
  out += rest;
  return out;
}

std::string Utf8Stream::finish() {
  const bool incomplete = !held_.empty();
  held_.clear();
  return incomplete ? std::string(kReplacement) : std::string();
}

std::string to_valid_utf8(std::string_view bytes) {
  Utf8Stream stream;
  std::string out = stream.push(bytes);
  return out + stream.finish();
}

}  // namespace isobit

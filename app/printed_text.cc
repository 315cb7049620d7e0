#include "app/printed_text.h"

#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

// Each piece of `text` as `piece` has it, and between them `separator` as it was.
template <typename Piece>
std::string by_pieces(std::string_view text, char separator, Piece piece) {
  std::string out;
  for (size_t at; (at = text.find(separator)) != std::string_view::npos;) {
    out += piece(text.substr(0, at));
    out += separator;
    text.remove_prefix(at + 1);
  }
  return out + piece(text);
}

std::string printable_line(std::string_view text) {
  std::string line = by_pieces(text, '\t', printable);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin != std::string::npos && std::string_view(line).substr(begin).starts_with("::"))
    line.replace(begin, 1, "\\x3a");
  return line;
}

}  // namespace

std::string printable(std::string_view text) {
  return by_pieces(text, '\\', [](std::string_view piece) { return visible_text(piece); });
}

std::string printable_lines(std::string_view text) {
  return by_pieces(text, '\n', printable_line);
}

}  // namespace isobit::app

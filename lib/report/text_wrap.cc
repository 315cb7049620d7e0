#include "report/text_wrap.h"

#include <algorithm>

#include "base/error.h"
#include "report/untrusted_text.h"

namespace isobit {

namespace {

enum class LongWord { kBroken, kWhole };

std::string wrapped(std::string_view visible, size_t indent, size_t columns, LongWord long_word) {
  ISOBIT_REQUIRE(indent < columns);
  std::string out;
  size_t width = indent;
  while (!visible.empty()) {
    const size_t space = visible.find(' ');
    std::string_view word = visible.substr(0, space);
    visible.remove_prefix(space == std::string_view::npos ? visible.size() : space + 1);
    while (!word.empty()) {
      const bool begins = width == indent;
      if (!begins && width + 1 + display_width(word) > columns) {
        out += '\n' + std::string(indent, ' ');
        width = indent;
        continue;
      }
      const std::string_view part = long_word == LongWord::kWhole
                                        ? word
                                        : word.substr(0, prefix_fitting(word, columns - indent));
      out += begins ? "" : " ";
      out += part;
      width += display_width(part) + (begins ? 0 : 1);
      word.remove_prefix(part.size());
    }
  }
  return out + '\n';
}

}  // namespace

std::string wrapped_text(std::string_view visible, size_t indent, size_t columns) {
  return wrapped(visible, indent, columns, LongWord::kBroken);
}

std::string wrapped_words(std::string_view visible, size_t indent) {
  return wrapped(visible, indent, kTerminalColumns, LongWord::kWhole);
}

std::string folded_lines(std::string_view visible) {
  std::string out;
  while (!visible.empty()) {
    const size_t end = std::min(visible.find('\n'), visible.size());
    const std::string_view line = visible.substr(0, end);
    visible.remove_prefix(std::min(end + 1, visible.size()));
    if (display_width(line) <= kTerminalColumns) {
      out += std::string(line) + '\n';
      continue;
    }
    const size_t begin = std::min(line.find_first_not_of(' '), kTerminalColumns / 2);
    const std::string rest = wrapped_words(line.substr(begin), begin + 2);
    out += std::string(begin, ' ') + rest;
  }
  return out;
}

}  // namespace isobit

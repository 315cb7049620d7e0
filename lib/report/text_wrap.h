// Prose for terminals: lines of at most 80 columns, broken between words. Tables have
// report/text_table.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace isobit {

inline constexpr size_t kTerminalColumns = 80;

// Words of visible text in lines of at most `columns`; a word that fits no line is broken. The
// first line is one that `indent` columns are used of already, the others begin with as many
// spaces. Ends with a newline.
// REQUIRES: indent < columns.
std::string wrapped_text(std::string_view visible, size_t indent = 0,
                         size_t columns = kTerminalColumns);

// The same, but a word that fits no line stays whole and sticks out: digests and paths are there to
// be copied.
std::string wrapped_words(std::string_view visible, size_t indent = 0);

// Whole lines, of which those that are wider than a terminal go on in the next, two columns further
// in than they began.
std::string folded_lines(std::string_view visible);

}  // namespace isobit

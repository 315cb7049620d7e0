// Plain-text tables for terminals: no colour, no drawing characters, never wider than asked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace isobit {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
};

// Rows are padded or cut to the columns. Cells may hold untrusted text: it is made visible. What
// does not fit its column goes on in the next line, broken after a comma, a space or another sign
// where there is one. Only what is past 2,000 characters of a cell is cut, with "...". Every line
// ends with a newline.
// REQUIRES: 1 to 16 columns, max_width >= 80.
std::string text_table(const std::vector<TableColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows, size_t max_width = 80);

}  // namespace isobit

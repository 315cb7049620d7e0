#include "report/text_table.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kGap = 2;  // columns between columns
constexpr size_t kMinWidth = 3;
constexpr size_t kMaxCellCharacters = 2000;

using Cells = std::vector<std::string>;

Cells visible_row(const Cells& row, size_t n_columns) {
  Cells cells(n_columns);
  for (size_t i = 0; i < std::min(row.size(), n_columns); ++i)
    cells[i] = visible_text(row[i], kMaxCellCharacters);
  return cells;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Whether a line may end after text[at]: after a space, a comma or an equals sign, and after other
// signs unless a digit follows ("99.5", "2026-01-31", "(12-15)" stay whole).
bool is_seam(const std::string& text, size_t at) {
  if (std::string_view(" ,=").find(text[at]) != std::string_view::npos) return true;
  const bool before_digit = at + 1 < text.size() && is_digit(text[at + 1]);
  return std::string_view(".-/:").find(text[at]) != std::string_view::npos && !before_digit;
}

// Columns that the longest piece between two seams needs.
size_t longest_piece(const std::string& text) {
  size_t longest = 0, start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && !is_seam(text, i)) continue;
    const size_t end = text[i] == ' ' ? i : i + 1;
    longest = std::max(longest, display_width(std::string_view(text).substr(start, end - start)));
    start = i + 1;
  }
  return longest;
}

// The widest of the columns that are wider than `least`; nullptr: none is.
size_t* widest_above(std::vector<size_t>& widths, const std::vector<size_t>& least) {
  size_t* widest = nullptr;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > least[i] && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
  }
  return widest;
}

// The natural widths, the widest column narrowed step by step until the line fits: first down to
// what no piece must be cut for, then further.
std::vector<size_t> column_widths(const std::vector<Cells>& rows, size_t n_columns,
                                  size_t max_width) {
  std::vector<size_t> widths(n_columns, kMinWidth), whole(n_columns, kMinWidth);
  for (const Cells& row : rows) {
    for (size_t i = 0; i < n_columns; ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
      whole[i] = std::max(whole[i], longest_piece(row[i]));
    }
  }
  const size_t room = max_width - kGap * (n_columns - 1);
  for (const std::vector<size_t>& least : {whole, std::vector<size_t>(n_columns, kMinWidth)}) {
    while (std::accumulate(widths.begin(), widths.end(), size_t{0}) > room) {
      size_t* widest = widest_above(widths, least);
      if (widest == nullptr) break;
      --*widest;
    }
  }
  return widths;
}

// Where the line of text[0, end) is best broken: after its last space or comma, else after its last
// other seam; 0: nowhere.
size_t last_seam(const std::string& text, size_t end) {
  const size_t word = text.find_last_of(", ", end - 1);
  if (word != std::string::npos && word > 0) return word + 1;
  while (end > 0 && !is_seam(text, end - 1)) --end;
  return end;
}

// Cuts visible text into lines of at most `width` columns.
std::vector<std::string> lines_of(std::string text, size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    size_t cut = prefix_fitting(text, width);
    if (cut < text.size() && text[cut] == ' ') ++cut;  // that space is at the end of the line
    if (const size_t seam = last_seam(text, cut); seam > 0) cut = seam;
    lines.push_back(text.substr(0, cut));
    if (lines.back().ends_with(' ')) lines.back().pop_back();
    text.erase(0, cut);
  }
  lines.push_back(text);
  return lines;
}

std::string padded(const std::string& text, size_t width, Align align) {
  const size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Align::kLeft ? text + space : space + text;
}

void append_row(std::string& out, const Cells& row, const std::vector<TableColumn>& columns,
                const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> wrapped;
  size_t n_lines = 1;
  for (size_t i = 0; i < columns.size(); ++i) {
    wrapped.push_back(lines_of(row[i], widths[i]));
    n_lines = std::max(n_lines, wrapped.back().size());
  }
  for (size_t l = 0; l < n_lines; ++l) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      line += padded(l < wrapped[i].size() ? wrapped[i][l] : std::string(), widths[i],
                     columns[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

}  // namespace

std::string text_table(const std::vector<TableColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows, size_t max_width) {
  ISOBIT_REQUIRE(!columns.empty() && columns.size() <= 16 && max_width >= 80);
  std::vector<Cells> all(1);
  for (const TableColumn& column : columns) all[0].push_back(visible_text(column.title));
  for (const auto& row : rows) all.push_back(visible_row(row, columns.size()));
  const std::vector<size_t> widths = column_widths(all, columns.size(), max_width);
  std::string out;
  append_row(out, all[0], columns, widths);
  std::string rule;
  for (size_t i = 0; i < columns.size(); ++i)
    rule += std::string(i > 0 ? kGap : 0, ' ') + std::string(widths[i], '-');
  out += rule + '\n';
  for (size_t r = 1; r < all.size(); ++r) append_row(out, all[r], columns, widths);
  return out;
}

}  // namespace isobit

// What every part of the HTML report is built from: sections, figures, tables, keys, commands.
// What is called html is HTML already; everything else is text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobit {

// Shown in full, in characters; what is longer ends in a digest of the whole.
inline constexpr size_t kNameCharacters = 200;
inline constexpr size_t kSentenceCharacters = 1000;

// A sentence as text; `names` are those from outside in it, which are bounded one by one.
std::string html_sentence(std::string_view sentence, const std::vector<std::string>& names);

// A cell's or a sample's name as code, which may break between its parts.
std::string html_name(std::string_view name);

std::string html_section(std::string_view id, std::string_view title, std::string_view hint,
                         const std::string& content_html);

enum class FigureWidth { kHalf, kFull };
// `data_html`: the figures behind the picture, folded. May be empty.
std::string html_figure(std::string_view title, std::string_view caption,
                        const std::string& content_html, const std::string& data_html = {},
                        FigureWidth width = FigureWidth::kHalf);

struct HtmlColumn {
  std::string name;
  bool is_number = false;
  bool is_prose = false;  // the program's own words, which are not broken inside
  bool is_value = false;  // wide enough for a short one in one piece
};
// The first cell of a row is its header. On a narrow screen a row is a small list; so every cell
// carries its column's name. `name` is what a screen reader says. Rows beyond `n_open` are folded
// under "N more WHAT".
struct HtmlTable {
  std::string name;
  std::vector<HtmlColumn> columns;
  std::vector<std::vector<std::string>> rows_html = {};
  size_t n_open = 100'000;
  std::string what = "rows";
};
std::string html_table(const HtmlTable& table);

// A mark and its meaning. `css_class` of a mark that fills a square, or of a line.
enum class KeyMark { kSquare, kLine, kDot };
struct KeyEntry {
  KeyMark mark = KeyMark::kSquare;
  std::string css_class;
  std::string words;
};
std::string html_key(const std::vector<KeyEntry>& entries);

// A command to copy. `words_before` says what it does; may be empty.
std::string html_command(std::string_view words_before, std::string_view command);

// "pass" in a coloured pill; the word says it, the colour repeats it.
std::string html_tag(std::string_view tone, std::string_view words);

}  // namespace isobit

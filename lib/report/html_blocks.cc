#include "report/html_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html_text.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

std::string cell(const HtmlColumn& column, const std::string& html) {
  const char* css = column.is_number  ? " class=\"n\""
                    : column.is_prose ? " class=\"prose\""
                    : column.is_value ? " class=\"value\""
                                      : "";
  return fmt::format("<td{} data-label=\"{}\"><span>{}</span></td>", css, html_text(column.name),
                     html);
}

std::string rows_of(const HtmlTable& table, size_t first, size_t last, std::string_view name) {
  std::string out =
      fmt::format("<table class=\"stack\" aria-label=\"{}\"><thead><tr>", html_text(name));
  for (const HtmlColumn& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.is_number ? " class=\"n\"" : "",
                       html_text(column.name));
  }
  out += "</tr></thead><tbody>";
  for (size_t i = first; i < last; ++i) {
    const std::vector<std::string>& row = table.rows_html[i];
    out += "<tr><th scope=\"row\">" + row[0] + "</th>";
    for (size_t k = 1; k < row.size(); ++k) out += cell(table.columns[k], row[k]);
    out += "</tr>";
  }
  return out + "</tbody></table>";
}

}  // namespace

std::string html_sentence(std::string_view sentence, const std::vector<std::string>& names) {
  return html_text(bounded_sentence(sentence, names, kSentenceCharacters));
}

std::string html_name(std::string_view name) {
  std::string out = "<code>";
  for (const char c : html_text(name, kNameCharacters)) {
    out += c;
    if (c == ',') out += "<wbr>";
  }
  return out + "</code>";
}

std::string html_section(std::string_view id, std::string_view title, std::string_view hint,
                         const std::string& content_html) {
  return fmt::format(
      "<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2><p class=\"hint\">{2}</p>{3}"
      "</section>\n",
      id, html_text(title), html_text(hint), content_html);
}

std::string html_figure(std::string_view title, std::string_view caption,
                        const std::string& content_html, const std::string& data_html,
                        FigureWidth width) {
  std::string out = fmt::format("<figure{}><figcaption><h3>{}</h3><p>{}</p></figcaption>{}",
                                width == FigureWidth::kFull ? " class=\"wide\"" : "",
                                html_text(title), html_text(caption), content_html);
  if (!data_html.empty()) {
    out += fmt::format("<details><summary>The figures: {}</summary>{}</details>", html_text(title),
                       data_html);
  }
  return out + "</figure>\n";
}

std::string html_table(const HtmlTable& table) {
  const size_t n = table.rows_html.size();
  const size_t n_open = n <= table.n_open + table.n_open / 2 ? n : table.n_open;
  std::string out = rows_of(table, 0, n_open, table.name);
  if (n_open == n) return out;
  return out + fmt::format("<details><summary>{} more {}</summary>{}</details>", n - n_open,
                           html_text(table.what),
                           rows_of(table, n_open, n, table.name + ", continued"));
}

std::string html_key(const std::vector<KeyEntry>& entries) {
  std::string out = "<ul class=\"key\">";
  for (const KeyEntry& entry : entries) {
    std::string_view shape = "<rect class=\"{}\" x=\"2\" y=\"1\" width=\"12\" height=\"12\"/>";
    if (entry.mark == KeyMark::kLine) shape = "<path class=\"line {}\" d=\"M0 7h24\"/>";
    if (entry.mark == KeyMark::kDot) shape = "<circle class=\"{}\" cx=\"7\" cy=\"7\" r=\"5\"/>";
    out += fmt::format("<li><svg viewBox=\"0 0 {} 14\" class=\"{}\" aria-hidden=\"true\">",
                       entry.mark == KeyMark::kLine ? 24 : 14,
                       entry.mark == KeyMark::kLine ? "stroke" : "square") +
           fmt::format(fmt::runtime(shape), entry.css_class) + "</svg><span>" +
           html_text(entry.words, kNameCharacters) + "</span></li>";
  }
  return out + "</ul>";
}

namespace {

// The options of the commands that pages show are not broken at their hyphens. Others are left: the
// page's elements do not follow from what a run holds. Entities hold no blanks.
std::string with_whole_options(const std::string& escaped_command) {
  std::string out;
  for (size_t at = 0; at < escaped_command.size();) {
    const size_t blank = std::min(escaped_command.find(' ', at), escaped_command.size());
    const std::string word = escaped_command.substr(at, blank - at);
    const bool is_option = word == "--tokens" || word == "--store" || word == "--base";
    out += is_option ? "<span class=\"option\">" + word + "</span>" : word;
    if (blank < escaped_command.size()) out += ' ';
    at = blank + 1;
  }
  return out;
}

}  // namespace

std::string html_command(std::string_view words_before, std::string_view command) {
  std::string out;
  if (!words_before.empty()) out = "<p class=\"before\">" + html_text(words_before) + "</p>";
  return out + fmt::format(
                   "<div class=\"command\"><code>{}</code><button type=\"button\" data-copy "
                   "hidden>Copy</button></div>",
                   with_whole_options(html_shell_text(command)));
}

std::string html_tag(std::string_view tone, std::string_view words) {
  return fmt::format("<span class=\"tag {}\">{}</span>", tone, html_text(words));
}

}  // namespace isobit

#include "app/help_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/output_schemas.h"
#include "report/text_wrap.h"

namespace isobit::app {
namespace {

constexpr size_t kMostTitle = 26;  // a longer title has a line of its own

struct Row {
  std::string title, meaning;
};

std::string rows_text(const char* heading, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  size_t width = 0;
  for (const Row& row : rows)
    if (row.title.size() <= kMostTitle) width = std::max(width, row.title.size());
  const size_t indent = width + 4;
  std::string out = fmt::format("\n{}:\n", heading);
  for (const Row& row : rows) {
    if (row.title.size() > width)
      out += fmt::format("  {}{:{}}", wrapped_text(row.title, 2), "", indent);
    else
      out += fmt::format("  {:<{}}  ", row.title, width);
    out += wrapped_text(row.meaning, indent);
  }
  return out;
}

std::vector<Row> option_rows(const std::vector<OptionWords>& options) {
  std::vector<Row> rows;
  for (const OptionWords& option : options) {
    const bool must = option.required && option.names.front().front() == '-';
    rows.push_back({option_title(option), option.meaning + (must ? " (required)" : "")});
  }
  return rows;
}

std::vector<Row> command_rows(const CommandWords& command) {
  std::vector<Row> rows;
  for (const CommandWords& sub : command.commands) rows.push_back({sub.name, sub.summary});
  return rows;
}

std::string pointers(const CommandWords& command) {
  if (command.path.empty())
    return "\n" + wrapped_text(
                      "Results are on stdout, talk on stderr. isobit help COMMAND has "
                      "arguments, options and an example of each.");
  std::string out = "\n" + wrapped_text(
                               "Also: --json, --store, --plain, --quiet and what else "
                               "isobit --help lists.");
  const std::string schemas = schemas_text(command.path);
  if (schemas.empty()) return out;
  return out + wrapped_text("--json keeps to the schema " + schemas + ": isobit schema " +
                            schemas_of(command.path).front().schema + ".");
}

}  // namespace

std::string help_text(const CommandWords& command) {
  std::string out = wrapped_text(command.summary) + "Usage: " +
                    wrapped_text(usage_line(command), std::string_view("Usage: ").size());
  out += rows_text("Arguments", option_rows(command.arguments));
  out += rows_text("Options", option_rows(command.options));
  out += rows_text("Commands", command_rows(command));
  out += pointers(command);
  if (!command.example.empty()) out += "\nExample:\n  " + command.example + "\n";
  return out;
}

Json help_json(const CommandWords& command) {
  Json codes = Json::array();
  for (const ExitMeaning& row : kExitMeanings)
    codes.push_back({{"code", static_cast<int>(row.code)}, {"meaning", row.meaning}});
  return {{"help", command_json(command)}, {"exit_codes", codes}};
}

}  // namespace isobit::app

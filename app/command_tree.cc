#include "app/command_tree.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/output_schemas.h"
#include "app/word_lists.h"

namespace isobit::app {
namespace {

constexpr std::string_view kExample = "Example:\n  ";

// "TEXT:{auto,always,never}" as CLI11 has it: the kind of value, and what its checks say of it.
struct TypeName {
  std::string kind, check;
};

TypeName type_name(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// The words of "{auto,always,never}"; of any other check none.
std::vector<std::string> choices_in(const std::string& check) {
  if (check.size() < 2 || check.front() != '{' || check.back() != '}') return {};
  return split_words(check.substr(1, check.size() - 2));
}

// "INT in [1 - 100000]" -> "1 to 100000".
std::string bounds_in(const std::string& check) {
  if (check == "POSITIVE") return "above 0";
  const size_t open = check.find("in ["), close = check.rfind(']'), dash = check.find(" - ");
  if (open == std::string::npos || close == std::string::npos || dash == std::string::npos)
    return "";
  return check.substr(open + 4, dash - open - 4) + " to " +
         check.substr(dash + 3, close - dash - 3);
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());  // the set is ordered by address
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string meaning_of(const CLI::Option& option, const std::string& bounds) {
  std::vector<std::string> notes;
  if (!bounds.empty()) notes.push_back(bounds);
  if (!option.get_needs().empty()) notes.push_back("needs " + names_of(option.get_needs()));
  if (!option.get_excludes().empty())
    notes.push_back("not with " + names_of(option.get_excludes()));
  if (notes.empty()) return option.get_description();
  return fmt::format("{} ({})", option.get_description(), fmt::join(notes, "; "));
}

OptionWords words_of_option(const CLI::Option& option) {
  OptionWords words;
  if (option.get_positional()) {
    words.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  }
  const TypeName type = type_name(option);
  if (option.get_items_expected_max() > 0) words.value = type.kind.empty() ? "TEXT" : type.kind;
  words.choices = choices_in(type.check);
  words.meaning = meaning_of(option, bounds_in(type.check));
  words.required = option.get_required();
  words.repeats = option.get_expected_max() > 1 ||
                  option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return words;
}

std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "";
  const std::string above = path_of(*app.get_parent());
  return above.empty() ? app.get_name() : above + " " + app.get_name();
}

std::string example_of(const CLI::App& app) {
  const std::string footer = app.get_footer();
  return footer.starts_with(kExample) ? footer.substr(kExample.size()) : footer;
}

Json option_json(const OptionWords& option) {
  return {{"names", option.names},     {"value", option.value},       {"meaning", option.meaning},
          {"choices", option.choices}, {"required", option.required}, {"repeats", option.repeats}};
}

}  // namespace

CommandWords words_of(const CLI::App& app) {
  CommandWords words;
  words.name = app.get_name();
  words.path = path_of(app);
  words.summary = app.get_description();
  words.example = example_of(app);
  words.needs_command = app.get_require_subcommand_min() > 0;
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? words.arguments : words.options)
        .push_back(words_of_option(*option));
  for (const CLI::App* sub : app.get_subcommands(nullptr)) words.commands.push_back(words_of(*sub));
  return words;
}

const CLI::App& root_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app : root_of(*app.get_parent());
}

std::string usage_line(const CommandWords& command) {
  std::string out = command.path.empty() ? "isobit" : "isobit " + command.path;
  out += " [OPTIONS]";
  for (const OptionWords& argument : command.arguments) {
    const std::string name = argument.names.front() + (argument.repeats ? "..." : "");
    out += argument.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) out += command.needs_command ? " COMMAND" : " [COMMAND]";
  return out;
}

std::string option_title(const OptionWords& option) {
  std::string out = fmt::format("{}", fmt::join(option.names, ", "));
  if (option.value.empty() || option.names.front().front() != '-') return out;
  out += option.choices.empty() ? " " + option.value
                                : fmt::format(" {}", fmt::join(option.choices, "|"));
  return out + (option.repeats ? " ..." : "");
}

Json command_json(const CommandWords& command) {
  Json arguments = Json::array(), options = Json::array(), commands = Json::array();
  for (const OptionWords& argument : command.arguments) arguments.push_back(option_json(argument));
  for (const OptionWords& option : command.options) options.push_back(option_json(option));
  for (const CommandWords& sub : command.commands) commands.push_back(command_json(sub));
  Json outputs = Json::array();
  for (const OutputSchema& row : schemas_of(command.path))
    outputs.push_back(
        {{"schema", row.schema}, {"definition", *row.definition ? Json(row.definition) : Json()}});
  return {{"command", command.path},
          {"summary", command.summary},
          {"usage", usage_line(command)},
          {"example", command.example},
          {"needs_command", command.needs_command},
          {"arguments", arguments},
          {"options", options},
          {"outputs", outputs},
          {"commands", commands}};
}

}  // namespace isobit::app

// The commands as data: names, arguments, options, words and examples, read off the CLI11 tree that
// the command line is parsed with. --help, the man page, the completions and `isobit help --json`
// are all written from it, so that none of them can lag behind the program.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/json.h"

namespace isobit::app {

struct OptionWords {
  std::vector<std::string> names;  // "-o", "--output"; of an argument: "RUN"
  std::string value;               // "TEXT"; empty: a flag
  std::string meaning;
  std::vector<std::string> choices;  // empty: any
  bool required = false;
  bool repeats = false;
};

struct CommandWords {
  std::string name;
  std::string path;  // "store list"; empty: the program itself
  std::string summary;
  std::string example;
  bool needs_command = false;  // does nothing without one of `commands`
  std::vector<OptionWords> arguments;
  std::vector<OptionWords> options;
  std::vector<CommandWords> commands;
};

CommandWords words_of(const CLI::App& app);

// The program, of which `app` is a command at any depth.
const CLI::App& root_of(const CLI::App& app);

// "isobit store query [OPTIONS] SQL".
std::string usage_line(const CommandWords& command);

// "-o, --output TEXT..."
std::string option_title(const OptionWords& option);

// With the path as one string and what --json prints: schemas/help.schema.json.
Json command_json(const CommandWords& command);

}  // namespace isobit::app

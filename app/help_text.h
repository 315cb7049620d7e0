// What --help prints: at most 80 columns, whatever CLI11 would make of it; with --json, a document.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "app/command_tree.h"

namespace isobit::app {

std::string help_text(const CommandWords& command);
// The same as data, with the exit codes: schemas/help.schema.json.
Json help_json(const CommandWords& command);

// Set once on the program; its commands inherit it.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return help_text(words_of(*app));
  }
};

}  // namespace isobit::app

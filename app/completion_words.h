// What the completions of all shells are made of: the commands in one list, and for each value the
// words that it may be.
#pragma once

#include <string>
#include <vector>

#include "app/command_tree.h"
#include "matrix/axes.h"

namespace isobit::app {

// The commands as a shell meets them: after `help` come the commands themselves, at every depth.
CommandWords completed_commands(CommandWords root);

// The program and every command, each before its own commands.
std::vector<const CommandWords*> all_commands(const CommandWords& root);

// The words that any argument of the command may be, each once.
std::vector<std::string> argument_words(const CommandWords& command);

// Words that a value of this option or argument may be: those that the command line checks, and
// names that live in data (axes, policies, kernel sets, schemas). Others may be right as well.
std::vector<std::string> value_words(const CommandWords& command, const OptionWords& option);

// Words that a value of the axis may be, without kernel sets that this program does not have.
std::vector<std::string> axis_words(const Axis& axis);

// A word that no other fits beside: choices are all there is.
bool may_be_a_file(const OptionWords& option);
bool arguments_may_be_files(const CommandWords& command);

// "/run", "store/list": the command so far and the word that goes one deeper.
std::vector<std::string> steps(const CommandWords& root);

// The beginning of a sentence, for menus of one line.
std::string in_short(const std::string& text);

}  // namespace isobit::app

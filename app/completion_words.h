// What the completions of all shells are made of: the commands in one list, and for each value the
// words that it may be.
#pragma once

#include <string>
#include <vector>

#include "app/command_tree.h"

namespace isobit::app {

// The program and every command, each before its own commands.
std::vector<const CommandWords*> all_commands(const CommandWords& root);

// Words that a value of this option or argument may be: those that the command line checks, and
// names that live in data (axes, policies, kernel sets, schemas). Others may be right as well.
std::vector<std::string> value_words(const CommandWords& command, const OptionWords& option,
                                     const CommandWords& root);

// A word that no other fits beside: choices are all there is.
bool may_be_a_file(const OptionWords& option);

// "/run", "store/list": the command so far and the word that goes one deeper.
std::vector<std::string> steps(const CommandWords& root);

// The beginning of a sentence, for menus of one line.
std::string in_short(const std::string& text);

}  // namespace isobit::app

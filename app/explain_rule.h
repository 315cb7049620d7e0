// `isobit explain RULE`: what a metric asks, or a rule that a level brings into every policy.
#pragma once

#include <string>

#include "app/commands.h"

namespace isobit::app {

// A metric's name or a built-in rule's id.
bool is_rule_word(const std::string& word);

// REQUIRES: is_rule_word(word).
int explain_rule(const std::string& word, Session& session);

}  // namespace isobit::app

// Walks over the expressions of a statement, and the special names that a body uses.
#pragma once

#include <set>
#include <string>

#include "text/template_ast.h"

namespace isobit::jinja {

// Calls `visit(expression)` for the expression itself and everything inside, when there is one.
template <typename Visit>
void for_each_expression(const ExpressionPtr& root, const Visit& visit) {
  if (!root) return;
  visit(*root);
  for (const ExpressionPtr& child : root->children) for_each_expression(child, visit);
  if (!root->arguments) return;
  for (const ExpressionPtr& argument : root->arguments->positional)
    for_each_expression(argument, visit);
  for (const auto& argument : root->arguments->named) for_each_expression(argument.second, visit);
  for_each_expression(root->arguments->spread_positional, visit);
  for_each_expression(root->arguments->spread_named, visit);
}

template <typename Visit>
void for_each_name(const ExpressionPtr& root, const Visit& visit) {
  for_each_expression(root, [&](Expression& e) {
    if (e.type == ExpressionType::name) visit(e);
  });
}

// Those of `names` that the body reads before it assigns them, in the order in which jinja2's
// find_undeclared looks through the tree.
std::set<std::string> names_read_first(const Body& body, std::set<std::string> names);

}  // namespace isobit::jinja

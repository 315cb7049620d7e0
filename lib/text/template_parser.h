// Tokens to tree, with jinja2's grammar and its messages.
#pragma once

#include <string_view>

#include "text/template_ast.h"

namespace isobit::jinja {

// Throws Fault with a line: TemplateSyntaxError, TemplateAssertionError (an unknown filter or
// test), or kNotSupported.
ParsedTemplate parse_template(std::string_view source);

// The names that exist, for the parser's check and "did you mean".
bool is_filter_name(const std::string& name);
bool is_test_name(const std::string& name);

}  // namespace isobit::jinja

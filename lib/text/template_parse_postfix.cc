// What follows a value: attributes, subscripts, slices, calls, filters and tests.
#include "text/template_parse_state.h"
#include "text/template_parser.h"

namespace isobit::jinja {

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr value) {
  for (;;) {
    if (is_sign(".")) {
      value = parse_attribute(std::move(value));
    } else if (is_sign("[")) {
      value = parse_subscript(std::move(value));
    } else if (is_sign("(")) {
      value = parse_call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::parse_attribute(ExpressionPtr value) {
  const int line = next().line;
  if (current().type == TokenType::name) {
    ExpressionPtr made = make(ExpressionType::attribute, line, children_of(std::move(value)));
    made->name = next().text;
    return made;
  }
  if (current().type != TokenType::integer) fail("expected name or number", current().line);
  ExpressionPtr index = make(ExpressionType::constant, line);
  index->value = Value::integer(next().integer);
  return make(ExpressionType::item, line, children_of(std::move(value), std::move(index)));
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr value) {
  const int line = next().line;
  ExpressionPtr parts[3];
  int n_parts = 0;
  bool is_slice = false;
  std::vector<ExpressionPtr> indices;
  while (!is_sign("]")) {
    if (is_sign(":")) {
      next();
      is_slice = true;
      if (++n_parts > 2) fail("unexpected ':'", line);
    } else if (is_sign(",")) {
      if (is_slice) fail("a slice inside a tuple subscript is not supported", line);
      const int comma_line = next().line;
      if (indices.empty() || is_sign("]") || is_sign(",")) fail("unexpected ','", comma_line);
    } else {
      ExpressionPtr part = parse_expression();
      if (is_slice) {
        parts[n_parts] = std::move(part);
      } else {
        indices.push_back(std::move(part));
      }
      if (!is_sign("]") && !is_sign(":") && !is_sign(",")) expect_sign("]");
    }
  }
  next();
  if (!is_slice && indices.size() == 1) {
    return make(ExpressionType::item, line, children_of(std::move(value), std::move(indices[0])));
  }
  if (!is_slice) {
    ExpressionPtr tuple = make(ExpressionType::tuple, line, std::move(indices));
    return make(ExpressionType::item, line, children_of(std::move(value), std::move(tuple)));
  }
  if (indices.size() > 1) fail("a slice inside a tuple subscript is not supported", line);
  if (!indices.empty()) parts[0] = std::move(indices[0]);
  return make(
      ExpressionType::slice, line,
      children_of(std::move(value), std::move(parts[0]), std::move(parts[1]), std::move(parts[2])));
}

std::unique_ptr<CallArguments> ExpressionParser::parse_arguments(Expression& owner) {
  const int line = current().line;
  expect_sign("(");
  auto made = std::make_unique<CallArguments>();
  const auto ensure = [&](bool ok) {
    if (!ok) fail("invalid syntax for function call expression", line);
  };
  for (bool first = true; !is_sign(")"); first = false) {
    if (!first) {
      expect_sign(",");
      if (is_sign(")")) break;
    }
    if (skip_sign("*")) {
      ensure(!made->spread_positional && !made->spread_named);
      made->spread_positional = parse_expression();
      note_depth(owner, made->spread_positional.get());
    } else if (skip_sign("**")) {
      ensure(!made->spread_named);
      made->spread_named = parse_expression();
      note_depth(owner, made->spread_named.get());
    } else if (current().type == TokenType::name && ahead().type == TokenType::sign &&
               ahead().text == "=") {
      ensure(!made->spread_named);
      std::string name = next().text;
      next();
      made->named.emplace_back(std::move(name), parse_expression());
      note_depth(owner, made->named.back().second.get());
    } else {
      ensure(!made->spread_positional && !made->spread_named && made->named.empty());
      made->positional.push_back(parse_expression());
      note_depth(owner, made->positional.back().get());
    }
  }
  expect_sign(")");
  return made;
}

ExpressionPtr ExpressionParser::parse_call(ExpressionPtr callee) {
  ExpressionPtr made = make(ExpressionType::call, current().line, children_of(std::move(callee)));
  made->arguments = parse_arguments(*made);
  return made;
}

std::string ExpressionParser::parse_dotted_name() {
  std::string name = expect_name().text;
  while (skip_sign(".")) name += "." + expect_name().text;
  return name;
}

ExpressionPtr ExpressionParser::parse_filters(ExpressionPtr value, bool at_name) {
  while (is_sign("|") || at_name) {
    if (!at_name) next();
    at_name = false;
    const int line = current().line;
    ExpressionPtr made = make(ExpressionType::filter, line, children_of(std::move(value)));
    made->name = parse_dotted_name();
    if (!lenient_names_ && !is_filter_name(made->name)) {
      unknown_names_.emplace_back("TemplateAssertionError", "No filter named '" + made->name + "'.",
                                  line);
    }
    made->arguments = is_sign("(") ? parse_arguments(*made) : std::make_unique<CallArguments>();
    value = std::move(made);
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr value) {
  const int line = next().line;
  const bool negated = skip_name("not");
  ExpressionPtr made = make(ExpressionType::test, line, children_of(std::move(value)));
  made->name = parse_dotted_name();
  if (!lenient_names_ && !is_test_name(made->name)) {
    unknown_names_.emplace_back("TemplateAssertionError", "No test named '" + made->name + "'.",
                                line);
  }
  const TokenType type = current().type;
  const bool starts_value = type == TokenType::name || type == TokenType::string ||
                            type == TokenType::integer || type == TokenType::real || is_sign("[") ||
                            is_sign("{");
  if (is_sign("(")) {
    made->arguments = parse_arguments(*made);
  } else {
    made->arguments = std::make_unique<CallArguments>();
    if (starts_value && !is_name("else") && !is_name("or") && !is_name("and")) {
      if (is_name("is")) fail("You cannot chain multiple tests with is", current().line);
      const Nesting nesting(*this);
      made->arguments->positional.push_back(parse_postfix(parse_primary()));
      note_depth(*made, made->arguments->positional[0].get());
    }
  }
  return negated ? make(ExpressionType::logical_not, line, children_of(std::move(made)))
                 : std::move(made);
}

}  // namespace isobit::jinja

// The expression half of the parser: one function per level of precedence, loosest first.
#include <algorithm>
#include <array>

#include "text/template_parse_state.h"
#include "text/template_parser.h"

namespace isobit::jinja {
namespace {

constexpr int kMaxNesting = 300;          // of brackets, unary signs and statements
constexpr int kMaxExpressionDepth = 300;  // of the tree, which a long chain deepens without nesting

const std::pair<std::string_view, Operator>* comparison(std::string_view sign) {
  static constexpr std::array<std::pair<std::string_view, Operator>, 6> kSigns = {
      {{"==", Operator::equal},
       {"!=", Operator::not_equal},
       {"<", Operator::less},
       {"<=", Operator::less_equal},
       {">", Operator::greater},
       {">=", Operator::greater_equal}}};
  const auto* at =
      std::find_if(kSigns.begin(), kSigns.end(), [&](const auto& s) { return s.first == sign; });
  return at == kSigns.end() ? nullptr : at;
}

}  // namespace

ExpressionParser::Nesting::Nesting(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.nesting_ > kMaxNesting) {
    --parser_.nesting_;
    parser_.fail("the template nests deeper than " + std::to_string(kMaxNesting) + " levels",
                 parser_.current().line);
  }
}

void ExpressionParser::fail(const std::string& message, int line) const {
  throw Fault("TemplateSyntaxError", message, line);
}

std::string ExpressionParser::describe(const Token& token) {
  switch (token.type) {
    case TokenType::data:
      return "template data / text";
    case TokenType::block_begin:
      return "begin of statement block";
    case TokenType::block_end:
      return "end of statement block";
    case TokenType::variable_begin:
      return "begin of print statement";
    case TokenType::variable_end:
      return "end of print statement";
    case TokenType::string:
      return "string";
    case TokenType::integer:
      return "integer";
    case TokenType::real:
      return "float";
    case TokenType::end:
      return "end of template";
    default:
      return token.text;
  }
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_sign(std::string_view sign) {
  if (!is_sign(sign)) return false;
  next();
  return true;
}

Token ExpressionParser::expect_name(std::string_view what) {
  if (current().type != TokenType::name || (!what.empty() && current().text != what)) {
    const std::string expected = what.empty() ? "name" : std::string(what);
    if (current().type == TokenType::end)
      fail("unexpected end of template, expected '" + expected + "'.", current().line);
    fail("expected token '" + expected + "', got '" + describe(current()) + "'", current().line);
  }
  return next();
}

void ExpressionParser::expect_sign(std::string_view sign) {
  if (skip_sign(sign)) return;
  const std::string expected(sign);
  if (current().type == TokenType::end)
    fail("unexpected end of template, expected '" + expected + "'.", current().line);
  fail("expected token '" + expected + "', got '" + describe(current()) + "'", current().line);
}

void ExpressionParser::expect(TokenType type) {
  if (current().type == type) {
    next();
    return;
  }
  const std::string expected = describe({type, {}, 0});
  if (current().type == TokenType::end)
    fail("unexpected end of template, expected '" + expected + "'.", current().line);
  fail("expected token '" + expected + "', got '" + describe(current()) + "'", current().line);
}

void ExpressionParser::note_depth(Expression& parent, const Expression* child) const {
  if (child == nullptr) return;
  parent.depth = std::max(parent.depth, child->depth + 1);
  if (parent.depth > kMaxExpressionDepth) {
    fail("an expression is deeper than " + std::to_string(kMaxExpressionDepth) + " levels",
         parent.line);
  }
}

ExpressionPtr ExpressionParser::make(ExpressionType type, int line,
                                     std::vector<ExpressionPtr> children) {
  auto made = std::make_unique<Expression>();
  made->type = type;
  made->line = line;
  made->children = std::move(children);
  for (const ExpressionPtr& child : made->children) note_depth(*made, child.get());
  return made;
}

ExpressionPtr ExpressionParser::parse_expression(Conditional conditional) {
  const Nesting nesting(*this);
  return conditional == Conditional::allowed ? parse_condition() : parse_or();
}

ExpressionPtr ExpressionParser::parse_condition() {
  const int line = current().line;
  const size_t n_unknown = unknown_names_.size();
  ExpressionPtr value = parse_or();
  while (skip_name("if")) {
    ExpressionPtr test = parse_or();
    ExpressionPtr otherwise;
    if (skip_name("else")) {
      const Nesting nesting(*this);
      otherwise = parse_condition();
    }
    value = make(ExpressionType::condition, line,
                 children_of(std::move(test), std::move(value), std::move(otherwise)));
    unknown_names_.erase(unknown_names_.begin() + static_cast<long>(n_unknown),
                         unknown_names_.end());
  }
  return value;
}

ExpressionPtr ExpressionParser::flat_chain(std::string_view name, ExpressionType type,
                                           ExpressionPtr (ExpressionParser::*operand)()) {
  const int line = current().line;
  ExpressionPtr first = (this->*operand)();
  if (!is_name(name)) return first;
  std::vector<ExpressionPtr> children = children_of(std::move(first));
  while (skip_name(name)) children.push_back((this->*operand)());
  return make(type, line, std::move(children));
}

ExpressionPtr ExpressionParser::parse_or() {
  return flat_chain("or", ExpressionType::logical_or, &ExpressionParser::parse_and);
}

ExpressionPtr ExpressionParser::parse_and() {
  return flat_chain("and", ExpressionType::logical_and, &ExpressionParser::parse_not);
}

ExpressionPtr ExpressionParser::parse_not() {
  if (!is_name("not")) return parse_compare();
  const Nesting nesting(*this);
  const int line = next().line;
  return make(ExpressionType::logical_not, line, children_of(parse_not()));
}

ExpressionPtr ExpressionParser::parse_compare() {
  const int line = current().line;
  std::vector<ExpressionPtr> children = children_of(parse_sum());
  std::vector<Operator> operators;
  for (;;) {
    const auto* sign = current().type == TokenType::sign ? comparison(current().text) : nullptr;
    if (sign != nullptr) {
      next();
      operators.push_back(sign->second);
    } else if (skip_name("in")) {
      operators.push_back(Operator::in);
    } else if (is_name("not") && ahead().type == TokenType::name && ahead().text == "in") {
      next();
      next();
      operators.push_back(Operator::not_in);
    } else {
      break;
    }
    children.push_back(parse_sum());
  }
  if (operators.empty()) return std::move(children[0]);
  ExpressionPtr made = make(ExpressionType::compare, line, std::move(children));
  made->operators = std::move(operators);
  return made;
}

ExpressionPtr ExpressionParser::binary_chain(
    std::initializer_list<std::pair<std::string_view, Operator>> signs,
    ExpressionPtr (ExpressionParser::*operand)()) {
  const int line = current().line;
  ExpressionPtr left = (this->*operand)();
  for (;;) {
    const auto* sign =
        std::find_if(signs.begin(), signs.end(), [&](const auto& s) { return is_sign(s.first); });
    if (sign == signs.end()) return left;
    next();
    ExpressionPtr right = (this->*operand)();
    left = make(ExpressionType::binary, line, children_of(std::move(left), std::move(right)));
    left->operators = {sign->second};
  }
}

ExpressionPtr ExpressionParser::parse_sum() {
  return binary_chain({{"+", Operator::add}, {"-", Operator::subtract}},
                      &ExpressionParser::parse_concat);
}

ExpressionPtr ExpressionParser::parse_concat() {
  const int line = current().line;
  ExpressionPtr first = parse_product();
  if (!is_sign("~")) return first;
  std::vector<ExpressionPtr> children = children_of(std::move(first));
  while (skip_sign("~")) children.push_back(parse_product());
  return make(ExpressionType::concat, line, std::move(children));
}

ExpressionPtr ExpressionParser::parse_product() {
  return binary_chain({{"*", Operator::multiply},
                       {"/", Operator::divide},
                       {"//", Operator::floor_divide},
                       {"%", Operator::modulo}},
                      &ExpressionParser::parse_power);
}

ExpressionPtr ExpressionParser::parse_power() {
  const int line = current().line;
  ExpressionPtr left = parse_unary(true);
  while (skip_sign("**")) {
    left = make(ExpressionType::binary, line, children_of(std::move(left), parse_unary(true)));
    left->operators = {Operator::power};
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
  const int line = current().line;
  ExpressionPtr value;
  if (is_sign("-") || is_sign("+")) {
    const Nesting nesting(*this);
    const bool minus = next().text == "-";
    value = make(minus ? ExpressionType::negate : ExpressionType::plus, line,
                 children_of(parse_unary(false)));
  } else {
    value = parse_primary();
  }
  value = parse_postfix(std::move(value));
  while (with_filters) {
    if (is_sign("|")) {
      value = parse_filters(std::move(value), false);
    } else if (is_name("is")) {
      value = parse_test(std::move(value));
    } else if (is_sign("(")) {
      value = parse_call(std::move(value));
    } else {
      break;
    }
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_primary() {
  const int line = current().line;
  ExpressionPtr made;
  switch (current().type) {
    case TokenType::name:
      return parse_name();
    case TokenType::string: {
      std::string text;
      while (current().type == TokenType::string) text += next().text;
      made = make(ExpressionType::constant, line);
      made->value = Value::text(std::move(text));
      return made;
    }
    case TokenType::integer:
      made = make(ExpressionType::constant, line);
      made->value = Value::integer(next().integer);
      return made;
    case TokenType::real:
      made = make(ExpressionType::constant, line);
      made->value = Value::real(next().real);
      return made;
    default:
      break;
  }
  if (is_sign("(")) {
    next();
    made = parse_tuple(TupleForm::parenthesised);
    expect_sign(")");
    return made;
  }
  if (is_sign("[")) return parse_list();
  if (is_sign("{")) return parse_dict();
  fail("unexpected '" + describe(current()) + "'", line);
}

ExpressionPtr ExpressionParser::parse_name() {
  const Token token = next();
  const std::string& name = token.text;
  ExpressionPtr made = make(ExpressionType::constant, token.line);
  if (name == "true" || name == "True" || name == "false" || name == "False") {
    made->value = Value::boolean(name == "true" || name == "True");
  } else if (name != "none" && name != "None") {
    made->type = ExpressionType::name;
    made->name = name;
  }
  return made;
}

bool ExpressionParser::is_tuple_end() const {
  return current().type == TokenType::variable_end || current().type == TokenType::block_end ||
         is_sign(")");
}

ExpressionPtr ExpressionParser::parse_tuple(TupleForm form, Conditional conditional) {
  const int line = current().line;
  std::vector<ExpressionPtr> children;
  bool is_tuple = false;
  for (;;) {
    if (!children.empty()) expect_sign(",");
    if (is_tuple_end()) break;
    children.push_back(parse_expression(conditional));
    if (!is_sign(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!children.empty()) return std::move(children[0]);
    if (form == TupleForm::bare)
      fail("Expected an expression, got '" + describe(current()) + "'", current().line);
  }
  return make(ExpressionType::tuple, line, std::move(children));
}

ExpressionPtr ExpressionParser::parse_list() {
  const int line = next().line;
  std::vector<ExpressionPtr> children;
  while (!is_sign("]")) {
    if (!children.empty()) expect_sign(",");
    if (is_sign("]")) break;
    children.push_back(parse_expression());
  }
  expect_sign("]");
  return make(ExpressionType::list, line, std::move(children));
}

ExpressionPtr ExpressionParser::parse_dict() {
  const int line = next().line;
  std::vector<ExpressionPtr> children;
  while (!is_sign("}")) {
    if (!children.empty()) expect_sign(",");
    if (is_sign("}")) break;
    children.push_back(parse_expression());
    expect_sign(":");
    children.push_back(parse_expression());
  }
  expect_sign("}");
  return make(ExpressionType::dict, line, std::move(children));
}

}  // namespace isobit::jinja

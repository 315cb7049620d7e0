// What the statement half and the expression half of the parser share: the token cursor and the
// depth guards.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/template_ast.h"
#include "text/template_lexer.h"

namespace isobit::jinja {

enum class TupleForm { bare, parenthesised };
enum class Conditional {
  allowed,
  excluded
};  // whether "a if b else c" may stand here without brackets

template <typename... Pointers>
std::vector<ExpressionPtr> children_of(Pointers... pointers) {
  std::vector<ExpressionPtr> out;
  (out.push_back(std::move(pointers)), ...);
  return out;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  // Cursor.
  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token next() {
    Token token = current();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is_name(std::string_view name) const {
    return current().type == TokenType::name && current().text == name;
  }
  bool is_sign(std::string_view sign) const {
    return current().type == TokenType::sign && current().text == sign;
  }
  bool skip_name(std::string_view name);
  bool skip_sign(std::string_view sign);
  Token expect_name(std::string_view what = {});  // any name, or this keyword
  void expect_sign(std::string_view sign);
  void expect(TokenType type);
  [[noreturn]] void fail(const std::string& message, int line) const;
  static std::string describe(const Token& token);

  // Expressions.
  ExpressionPtr parse_expression(Conditional conditional = Conditional::allowed);
  ExpressionPtr parse_tuple(TupleForm form = TupleForm::bare,
                            Conditional conditional = Conditional::allowed);
  // After "|", or at the name when `value` is null and the filter opens a block.
  ExpressionPtr parse_filters(ExpressionPtr value, bool at_name);

  // Refuses source that nests deeper than the native stack should follow.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExpressionParser& parser_;
  };

  // jinja2 checks filter and test names once a template has parsed, except in the branches of a
  // condition, where a missing one is an error only when it is reached.
  bool lenient_names_ = false;
  std::vector<Fault> unknown_names_;

 private:
  ExpressionPtr make(ExpressionType type, int line, std::vector<ExpressionPtr> children = {});
  void note_depth(Expression& parent, const Expression* child) const;
  ExpressionPtr parse_condition();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_compare();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concat();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_primary();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_postfix(ExpressionPtr value);
  ExpressionPtr parse_attribute(ExpressionPtr value);
  ExpressionPtr parse_subscript(ExpressionPtr value);
  ExpressionPtr parse_call(ExpressionPtr callee);
  ExpressionPtr parse_test(ExpressionPtr value);
  ExpressionPtr parse_name();
  std::string parse_dotted_name();
  std::unique_ptr<CallArguments> parse_arguments(Expression& owner);
  ExpressionPtr binary_chain(std::initializer_list<std::pair<std::string_view, Operator>> signs,
                             ExpressionPtr (ExpressionParser::*operand)());
  ExpressionPtr flat_chain(std::string_view name, ExpressionType type,
                           ExpressionPtr (ExpressionParser::*operand)());
  bool is_tuple_end() const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace isobit::jinja

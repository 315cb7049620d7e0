// The tree that the parser builds and the interpreter walks.
//
// Lists of children are flat where the language has chains (or, and, ~, comparisons, elif), and
// every expression knows its depth: the parser refuses trees that would exhaust the native stack of
// whoever walks or destroys them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/template_operators.h"
#include "text/template_value.h"

namespace isobit::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr spread_positional;  // *expression
  ExpressionPtr spread_named;       // **expression
};

enum class ExpressionType {
  constant,     // value
  name,         // name
  list,         // children
  tuple,        // children
  dict,         // children: key, value, key, value ...
  negate,       // children[0]
  plus,         // children[0]
  logical_not,  // children[0]
  logical_and,  // children
  logical_or,   // children
  binary,       // children[0], operators[0], children[1]
  compare,      // children[0] operators[0] children[1] operators[1] ...
  concat,       // children, joined as text
  condition,    // children: test, then, else (null when absent)
  attribute,    // children[0] . name
  item,         // children[0] [ children[1] ]
  slice,  // children[0] [ children[1] : children[2] : children[3] ], each but the first may be null
  call,   // children[0] ( arguments )
  filter,  // children[0] (null in a filter block) | name ( arguments )
  test     // children[0] is name ( arguments )
};

struct Expression {
  ExpressionType type;
  int line;
  int depth = 1;
  std::string name;
  Value value;
  std::vector<ExpressionPtr> children;
  std::vector<Operator> operators;
  std::unique_ptr<CallArguments> arguments;
};

// What may stand left of "=": a name, namespace.attribute, or a tuple of these.
struct Target {
  int line;
  std::string name;
  std::optional<std::string> attribute;
  std::vector<Target> tuple;
  bool is_tuple = false;
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Parameter {
  std::string name;
  ExpressionPtr fallback;  // null when required
};

// The callable part of {% macro %} and {% call %}.
struct MacroBody {
  std::string name;  // empty for a call block
  std::vector<Parameter> parameters;
  Body body;
  bool uses_varargs = false;
  bool uses_kwargs = false;
  bool uses_caller = false;
};

struct TextStatement {
  std::string text;
};
struct PrintStatement {
  std::vector<ExpressionPtr> values;
};
struct IfStatement {
  struct Branch {
    ExpressionPtr test;
    Body body;
  };
  std::vector<Branch> branches;  // if, elif ...
  Body otherwise;
};
struct ForStatement {
  Target target;
  ExpressionPtr iterable;
  ExpressionPtr filter;  // for x in y if filter; may be null
  bool recursive = false;
  bool has_else = false;
  Body body;
  Body otherwise;
};
struct SetStatement {
  Target target;
  ExpressionPtr value;
};
struct SetBlockStatement {
  Target target;
  ExpressionPtr filter;
  Body body;
};
struct WithStatement {
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Body body;
};
struct MacroStatement {
  MacroBody macro;
};
struct CallStatement {
  ExpressionPtr call;
  MacroBody caller;
};
struct FilterStatement {
  ExpressionPtr filter;
  Body body;
};
struct GenerationStatement {
  Body body;
};
struct BreakStatement {};
struct ContinueStatement {};

struct Statement {
  int line;
  std::variant<TextStatement, PrintStatement, IfStatement, ForStatement, SetStatement,
               SetBlockStatement, WithStatement, MacroStatement, CallStatement, FilterStatement,
               GenerationStatement, BreakStatement, ContinueStatement>
      what;
};

struct ParsedTemplate {
  Body body;
  bool reads_clock = false;       // names strftime_now
  bool marks_generation = false;  // has {% generation %}
};

}  // namespace isobit::jinja

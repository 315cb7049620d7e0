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

// Where a name's value lies: `hops` frames outwards, then a slot of that frame.
struct SlotRef {
  int hops = 0;
  int slot = -1;
};

// What a frame fills in when it is entered: a variable of the template by its place in
// ParsedTemplate::context_names, or a copy of an outer frame's slot. Other slots begin empty.
struct FrameLoad {
  int slot;
  std::optional<int> context_name;
  SlotRef outer;  // seen from the frame itself
};

// A piece of the template with variables of its own; template_symbols.cc lays it out.
struct Frame {
  int n_slots = 0;
  std::vector<FrameLoad> loads;
};

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
  SlotRef where;  // of a name
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
  SlotRef where = {};
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Parameter {
  std::string name;
  ExpressionPtr fallback;  // null when required
  int slot = -1;
};

// The callable part of {% macro %}, {% call %} and {% generation %}.
struct MacroBody {
  std::string name;  // empty for a call block
  int line = 0;
  std::vector<Parameter> parameters;
  Body body;
  Frame frame;
  // Slots of the special names, where the body uses them.
  std::optional<int> varargs_slot, kwargs_slot, caller_slot;
  bool uses_caller = false;  // also as a parameter of that name
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
  Frame frame, else_frame, filter_frame;  // the target has the same slots in frame and filter_frame
  int loop_slot = -1;                     // in frame
};
struct SetStatement {
  Target target;
  ExpressionPtr value;
};
struct SetBlockStatement {
  Target target;
  ExpressionPtr filter;
  Body body;
  Frame frame;
};
struct WithStatement {
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Body body;
  Frame frame;
};
struct MacroStatement {
  MacroBody macro;
  SlotRef where = {};  // of its name
};
struct CallStatement {
  ExpressionPtr call;
  MacroBody caller;
};
struct FilterStatement {
  ExpressionPtr filter;
  Body body;
  Frame frame;
};
struct GenerationStatement {
  MacroBody written;  // jinja2 has it as a call block without arguments
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
  Frame frame;
  std::vector<std::string> context_names;  // looked up among the variables and the globals
  bool marks_generation = false;           // has {% generation %}
};

}  // namespace isobit::jinja

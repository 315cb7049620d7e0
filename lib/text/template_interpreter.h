// Walks a parsed template and writes its text.
//
// Names live in scopes that chain outwards: a loop iteration, a macro call, {% with %}, a captured
// block and a generation block each open one, laid out by its Frame. A macro keeps the scope in
// which it was defined.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/template_ast.h"
#include "text/template_value.h"

namespace isobit::jinja {

// A frame while it runs. An empty slot is a variable without a value: undefined.
struct Scope {
  std::shared_ptr<Scope> outer;
  std::vector<std::optional<Value>> slots;
};

// Text that is being written, and what is not text among it: Python's join complains of that at the
// end.
struct Output {
  std::string text;
  std::optional<std::string> not_text;  // the type's name
};

struct Limits {
  size_t max_steps;
  size_t max_output_bytes;
};

struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
};

class Interpreter {
 public:
  Interpreter(const ParsedTemplate& parsed, std::optional<std::chrono::local_seconds> now,
              Limits limits);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Throws Fault; line() then says where.
  std::string run(const Dict& variables);
  int line() const { return line_; }
  bool clock_was_read() const { return clock_was_read_; }
  // Of the text inside {% generation %} blocks, in the output.
  const std::vector<ByteRange>& generation_ranges() const { return generation_ranges_; }

  // For functions, filters and tests.
  Budget& budget() { return budget_; }
  Value call(const Value& callee, Arguments arguments);
  Value apply_filter(const std::string& name, const Value& value, const Arguments& arguments);
  bool apply_test(const std::string& name, const Value& value, const Arguments& arguments);
  Value attribute(const Value& v, const std::string& name);  // v.name
  Value item(const Value& v, const Value& key);              // v[key]
  std::chrono::local_seconds read_clock();
  // Objects that change live as long as the interpreter; the value only refers to them.
  Value own(std::unique_ptr<Object> object);

  // For macros and loops.
  Value run_macro(const MacroBody& macro, const std::shared_ptr<Scope>& defined_in,
                  Arguments& arguments);
  // The text of a for statement over `items`, with names resolved in `outer`.
  std::string run_loop_captured(const ForStatement& loop, const Value& items,
                                const std::shared_ptr<Scope>& outer, int depth);
  // The scope of the statement's "if", and whether `item` passes it.
  std::shared_ptr<Scope> filter_scope(const ForStatement& loop,
                                      const std::shared_ptr<Scope>& outer) {
    return entered(loop.filter_frame, outer);
  }
  bool passes_filter(const ForStatement& loop, const Value& item,
                     const std::shared_ptr<Scope>& scope);

 private:
  enum class Flow { next, leave_loop, next_iteration };
  // Makes `scope` the current one until the end of the block.
  class ScopeChange {
   public:
    ScopeChange(Interpreter& interpreter, std::shared_ptr<Scope> scope)
        : interpreter_(interpreter), saved_(std::exchange(interpreter.scope_, std::move(scope))) {}
    ~ScopeChange() { interpreter_.scope_ = std::move(saved_); }
    ScopeChange(const ScopeChange&) = delete;
    ScopeChange& operator=(const ScopeChange&) = delete;

   private:
    Interpreter& interpreter_;
    std::shared_ptr<Scope> saved_;
  };

  // Statements: template_execute.cc.
  Flow execute(const Body& body);
  Flow execute(const Statement& statement);
  Flow execute(const TextStatement& s);
  Flow execute(const PrintStatement& s);
  Flow execute(const IfStatement& s);
  Flow execute(const ForStatement& s);
  Flow execute(const SetStatement& s);
  Flow execute(const SetBlockStatement& s);
  Flow execute(const WithStatement& s);
  Flow execute(const MacroStatement& s);
  Flow execute(const CallStatement& s);
  Flow execute(const FilterStatement& s);
  Flow execute(const GenerationStatement& s);
  Flow execute(const BreakStatement&) { return Flow::leave_loop; }
  Flow execute(const ContinueStatement&) { return Flow::next_iteration; }
  void run_loop(const ForStatement& loop, const Value& items, const std::shared_ptr<Scope>& outer,
                int depth);
  void assign(const Target& target, const Value& value);
  void require_namespaces(const Target& target);
  // The text of a body in the current scope, and how it ended: a loop's break or continue in it
  // leaves the block without writing.
  std::pair<std::string, Flow> captured(const Body& body);
  std::string captured_output(const std::function<void()>& write_all);
  void write(std::string_view text);
  void write_value(
      const Value& value);  // as it is: what is no text is an error once all is written

  // Scopes.
  std::shared_ptr<Scope> entered(const Frame& frame, const std::shared_ptr<Scope>& outer);
  void fill(Scope& scope, const Frame& frame);
  std::optional<Value>& slot(const SlotRef& where);
  const std::optional<Value>& context_value(int name);

  // Expressions: template_evaluate.cc.
  Value evaluate(const Expression& e);
  Value evaluate_name(const Expression& e);
  Value evaluate_dict(const Expression& e);
  Value evaluate_logical(const Expression& e);
  Value evaluate_compare(const Expression& e);
  Value evaluate_concat(const Expression& e);
  Value evaluate_condition(const Expression& e);
  Value evaluate_slice(const Expression& e);
  Value evaluate_filter(const Expression& e, const Value* piped);
  Value evaluate_test(const Expression& e);
  Value evaluate_call(const Expression& e, const Value* caller);
  std::vector<Value> evaluate_all(const std::vector<ExpressionPtr>& expressions);
  Arguments evaluate_arguments(const CallArguments& arguments);

  const ParsedTemplate& parsed_;
  std::optional<std::chrono::local_seconds> now_;
  Budget budget_;
  size_t max_output_bytes_;
  const Dict* variables_ = nullptr;
  std::vector<std::optional<std::optional<Value>>> context_values_;  // once looked up
  std::shared_ptr<Scope> scope_;
  Output* out_ = nullptr;
  int capture_depth_ = 0;  // 0: out_ is the final text
  int line_ = 1;
  bool clock_was_read_ = false;
  std::vector<ByteRange> generation_ranges_;
  std::vector<std::unique_ptr<Object>> owned_;
};

// Names that every template sees: range, dict, namespace, raise_exception, strftime_now ...
std::optional<Value> global_named(const std::string& name);
// strftime of the C locale.
std::string format_time(std::chrono::local_seconds time, const std::string& format);

// Attributes and methods of built-in types: template_attributes.cc.
Value attribute_of(Interpreter& interpreter, const Value& v, const std::string& name);
Value item_of(Interpreter& interpreter, const Value& v, const Value& key);
Value slice_of(const Value& v, const Value& start, const Value& stop, const Value& step,
               Budget& budget);

}  // namespace isobit::jinja

// The objects that a template can hold: functions, bound methods, macros, loops, namespaces,
// cyclers, joiners.
#pragma once

#include <memory>
#include <string>

#include "text/template_interpreter.h"

namespace isobit::jinja {

class Function : public Object {
 public:
  using Body = Value (*)(Interpreter&, const Arguments&);
  Function(const char* name, const char* type_name, Body body)
      : name_(name), type_name_(type_name), body_(body) {}
  std::string type_name() const override { return type_name_; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments& arguments) override {
    return body_(interpreter, arguments);
  }
  std::optional<Value> attribute(Interpreter& interpreter, const std::string& name) override;

 private:
  std::string name_;
  std::string type_name_;
  Body body_;
};

using MethodBody = Value (*)(Interpreter&, const Value& self, const Arguments&);

struct Method {
  const char* name;
  MethodBody body;  // null: Python has it, this interpreter does not
};

class BoundMethod : public Object {
 public:
  BoundMethod(Value self, const Method& method);
  std::string type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments& arguments) override;
  int depth() const override { return self_.depth() + 1; }

 private:
  Value self_;
  const Method& method_;
};

class Macro : public Object {
 public:
  Macro(const MacroBody& body, std::shared_ptr<Scope> defined_in)
      : body_(body), defined_in_(std::move(defined_in)) {}
  std::string type_name() const override { return "Macro"; }
  std::string module_name() const override { return "jinja2.runtime"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments& arguments) override {
    return interpreter.run_macro(body_, defined_in_, arguments);
  }
  std::optional<Value> attribute(Interpreter& interpreter, const std::string& name) override;
  std::string repr(Budget&) const override {
    return body_.name.empty() ? "<Macro anonymous>" : "<Macro '" + body_.name + "'>";
  }

 private:
  const MacroBody& body_;
  std::shared_ptr<Scope> defined_in_;
};

class Namespace : public Object {
 public:
  explicit Namespace(Dict attributes) : attributes_(std::move(attributes)) {}
  std::string type_name() const override { return "TemplateNamespace"; }
  std::string module_name() const override { return "transformers.utils.chat_template_utils"; }
  std::optional<Value> attribute(Interpreter& interpreter, const std::string& name) override;
  std::string repr(Budget& budget) const override;
  void set(const std::string& name, Value value);

 private:
  Dict attributes_;
};

// The iterator behind a for loop, and the `loop` that its body sees. Items pass the statement's
// "if" only when they are reached, so that what the body changes in a namespace counts for later
// items, as in Python's generators.
class Loop : public Object {
 public:
  Loop(Interpreter& interpreter, const ForStatement& statement, const Value& items,
       std::shared_ptr<Scope> outer, int depth);
  std::string type_name() const override { return "LoopContext"; }
  std::string module_name() const override { return "jinja2.runtime"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments& arguments) override;
  std::optional<Value> attribute(Interpreter& interpreter, const std::string& name) override;
  std::string repr(Budget& budget) const override;

  bool advance();  // to the next item; false at the end
  const Value& current() const { return *current_; }
  void release();  // drops the items once the loop is over
  bool note_change(const std::vector<Value>& values, Budget& budget);  // loop.changed

 private:
  std::optional<Value> pull();
  const std::optional<Value>& peek();
  int64_t length();

  Interpreter& interpreter_;
  const ForStatement& statement_;
  std::optional<Iteration> items_;
  std::shared_ptr<Scope> outer_;
  std::shared_ptr<Scope> filter_scope_;  // null: every item passes
  int depth_;
  int64_t index0_ = -1;
  std::optional<int64_t> length_;
  std::optional<Value> before_;
  std::optional<Value> current_;
  std::optional<Value> after_;
  std::optional<Value> last_changed_;
};

const Method* find_text_method(const std::string& name);
const Method* find_container_method(const Value& v, const std::string& name);
// Of a number.
const Method* find_number_method(const Value& v, const std::string& name);
std::optional<Value> number_attribute(const Value& v, const std::string& name);
// Throws kNotSupported for an attribute that Python's type has and this interpreter does not.
void refuse_missing_attribute(const Value& v, const std::string& name);

}  // namespace isobit::jinja

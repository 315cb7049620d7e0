// Expressions.
#include "text/template_interpreter.h"
#include "text/template_objects.h"
#include "text/template_parser.h"

namespace isobit::jinja {

Value Interpreter::evaluate(const Expression& e) {
  const Budget::Level level(budget_);
  budget_.spend(1);
  line_ = e.line;
  switch (e.type) {
    case ExpressionType::constant:
      return e.value;
    case ExpressionType::name:
      return evaluate_name(e);
    case ExpressionType::list:
      return Value::list(evaluate_all(e.children));
    case ExpressionType::tuple:
      return Value::tuple(evaluate_all(e.children));
    case ExpressionType::dict:
      return evaluate_dict(e);
    case ExpressionType::negate:
      return negated(evaluate(*e.children[0]));
    case ExpressionType::plus:
      return unary_plus(evaluate(*e.children[0]));
    case ExpressionType::logical_not:
      return Value::boolean(!truth(evaluate(*e.children[0])));
    case ExpressionType::logical_and:
    case ExpressionType::logical_or:
      return evaluate_logical(e);
    case ExpressionType::binary: {
      const Value left = evaluate(*e.children[0]);
      const Value right = evaluate(*e.children[1]);
      line_ = e.line;
      return arithmetic(e.operators[0], left, right, budget_);
    }
    case ExpressionType::compare:
      return evaluate_compare(e);
    case ExpressionType::concat:
      return evaluate_concat(e);
    case ExpressionType::condition:
      return evaluate_condition(e);
    case ExpressionType::attribute: {
      const Value owner = evaluate(*e.children[0]);
      line_ = e.line;
      return attribute(owner, e.name);
    }
    case ExpressionType::item: {
      const Value owner = evaluate(*e.children[0]);
      const Value key = evaluate(*e.children[1]);
      line_ = e.line;
      return item(owner, key);
    }
    case ExpressionType::slice:
      return evaluate_slice(e);
    case ExpressionType::call:
      return evaluate_call(e, nullptr);
    case ExpressionType::filter:
      return evaluate_filter(e, nullptr);
    case ExpressionType::test:
      return evaluate_test(e);
  }
  return {};
}

Value Interpreter::evaluate_name(const Expression& e) {
  const std::optional<Value>& found = slot(e.where);
  if (found) return *found;
  return Value::undefined("'" + e.name + "' is undefined");
}

std::vector<Value> Interpreter::evaluate_all(const std::vector<ExpressionPtr>& expressions) {
  std::vector<Value> out;
  out.reserve(expressions.size());
  for (const ExpressionPtr& expression : expressions) out.push_back(evaluate(*expression));
  return out;
}

Value Interpreter::evaluate_dict(const Expression& e) {
  Dict dict;
  for (size_t i = 0; i + 1 < e.children.size(); i += 2) {
    const Value key = evaluate(*e.children[i]);
    dict.set(key, evaluate(*e.children[i + 1]));
  }
  return Value::dict(std::move(dict));
}

Value Interpreter::evaluate_logical(const Expression& e) {
  const bool stop_at = e.type == ExpressionType::logical_or;
  Value value;
  for (const ExpressionPtr& child : e.children) {
    value = evaluate(*child);
    if (truth(value) == stop_at) break;
  }
  return value;
}

Value Interpreter::evaluate_compare(const Expression& e) {
  Value left = evaluate(*e.children[0]);
  for (size_t i = 0; i < e.operators.size(); ++i) {
    Value right = evaluate(*e.children[i + 1]);
    line_ = e.line;
    if (!compare(e.operators[i], left, right, budget_)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_concat(const Expression& e) {
  std::string out;
  for (const ExpressionPtr& child : e.children) {
    out += str(evaluate(*child), budget_);
    budget_.spend_bytes(out.size());
  }
  return Value::text(std::move(out));
}

Value Interpreter::evaluate_condition(const Expression& e) {
  if (truth(evaluate(*e.children[0]))) return evaluate(*e.children[1]);
  if (e.children[2]) return evaluate(*e.children[2]);
  return Value::undefined("the inline if-expression on line " + std::to_string(e.line) +
                          " evaluated to false and no else section was defined.");
}

Value Interpreter::evaluate_slice(const Expression& e) {
  const Value owner = evaluate(*e.children[0]);
  Value parts[3];
  for (size_t i = 0; i < 3; ++i) {
    if (e.children[i + 1]) parts[i] = evaluate(*e.children[i + 1]);
  }
  line_ = e.line;
  return slice_of(owner, parts[0], parts[1], parts[2], budget_);
}

Arguments Interpreter::evaluate_arguments(const CallArguments& arguments) {
  Arguments out;
  out.positional = evaluate_all(arguments.positional);
  for (const auto& [name, expression] : arguments.named)
    out.named.emplace_back(name, evaluate(*expression));
  if (arguments.spread_positional) {
    for (Value& v : iterate(evaluate(*arguments.spread_positional), budget_))
      out.positional.push_back(std::move(v));
  }
  if (arguments.spread_named) {
    const Value spread = evaluate(*arguments.spread_named);
    if (spread.is_undefined()) spread.raise_undefined();
    if (!spread.is_dict())
      raise("TypeError", "argument after ** must be a mapping, not " + spread.type_name());
    for (const auto& [key, value] : spread.as_dict().entries()) {
      if (!key.is_text()) raise("TypeError", "keywords must be strings");
      out.named.emplace_back(key.as_text(), value);
    }
  }
  return out;
}

Value Interpreter::evaluate_filter(const Expression& e, const Value* piped) {
  const Value value = piped != nullptr && !e.children[0] ? *piped
                      : e.children[0]->type == ExpressionType::filter
                          ? evaluate_filter(*e.children[0], piped)
                          : evaluate(*e.children[0]);
  const Arguments arguments = evaluate_arguments(*e.arguments);
  line_ = e.line;
  if (!is_filter_name(e.name))
    raise("TemplateRuntimeError", "No filter named " + string_repr(e.name) + " found.");
  return apply_filter(e.name, value, arguments);
}

Value Interpreter::evaluate_test(const Expression& e) {
  const Value value = evaluate(*e.children[0]);
  const Arguments arguments = evaluate_arguments(*e.arguments);
  line_ = e.line;
  if (!is_test_name(e.name))
    raise("TemplateRuntimeError", "No test named " + string_repr(e.name) + " found.");
  return Value::boolean(apply_test(e.name, value, arguments));
}

Value Interpreter::evaluate_call(const Expression& e, const Value* caller) {
  const Value callee = evaluate(*e.children[0]);
  Arguments arguments = evaluate_arguments(*e.arguments);
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  line_ = e.line;
  return call(callee, std::move(arguments));
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
  const Budget::Level level(budget_);
  budget_.spend(1);
  if (callee.is_undefined()) callee.raise_undefined();
  if (callee.kind() != Kind::object || !callee.as_object().callable()) {
    raise("TypeError", "'" + callee.type_name() + "' object is not callable");
  }
  return callee.as_object().call(*this, arguments);
}

Value Interpreter::attribute(const Value& v, const std::string& name) {
  return attribute_of(*this, v, name);
}
Value Interpreter::item(const Value& v, const Value& key) {
  return item_of(*this, v, key);
}

}  // namespace isobit::jinja

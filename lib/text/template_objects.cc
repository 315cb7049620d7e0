#include "text/template_objects.h"

#include "text/template_arguments.h"

namespace isobit::jinja {

std::optional<Value> Function::attribute(Interpreter& interpreter, const std::string& name) {
  if (name_ == "dict" && name == "fromkeys") {
    static Function fromkeys("fromkeys", "method", [](Interpreter& in, const Arguments& arguments) {
      const BoundArguments bound("fromkeys", arguments, {"", ""}, 1);
      Dict dict;
      for (const Value& key : iterate(bound[0], in.budget())) dict.set(key, bound.value_or(1, {}));
      return Value::dict(std::move(dict));
    });
    return Value::borrowed(fromkeys);
  }
  return Object::attribute(interpreter, name);
}

BoundMethod::BoundMethod(Value self, const Method& method)
    : self_(std::move(self)), method_(method) {
  if (depth() > kMaxValueDepth) raise("RecursionError", "values nest deeper than the limit allows");
}

Value BoundMethod::call(Interpreter& interpreter, Arguments& arguments) {
  if (method_.body == nullptr) {
    raise(kNotSupported, "the method " + self_.type_name() + "." + method_.name);
  }
  return method_.body(interpreter, self_, arguments);
}

std::optional<Value> Macro::attribute(Interpreter&, const std::string& name) {
  if (name == "name") return body_.name.empty() ? Value() : Value::text(body_.name);
  if (name == "catch_kwargs") return Value::boolean(body_.kwargs_slot.has_value());
  if (name == "catch_varargs") return Value::boolean(body_.varargs_slot.has_value());
  if (name == "caller") return Value::boolean(body_.uses_caller);
  if (name == "arguments") {
    std::vector<Value> names;
    for (const Parameter& parameter : body_.parameters)
      names.push_back(Value::text(parameter.name));
    return Value::tuple(std::move(names));
  }
  return std::nullopt;
}

std::optional<Value> Namespace::attribute(Interpreter&, const std::string& name) {
  const Value* found = attributes_.find(name);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::string Namespace::repr(Budget& budget) const {
  const Budget::Level level(budget);  // a namespace may hold itself
  std::string out = "<Namespace {";
  for (const auto& [name, value] : attributes_.entries()) {
    if (out.back() != '{') out += ", ";
    out += jinja::repr(name, budget) + ": " + jinja::repr(value, budget);
    budget.spend_bytes(out.size());
  }
  return out + "}>";
}

void Namespace::set(const std::string& name, Value value) {
  if (name.starts_with('_')) {
    raise("SecurityError",
          "Chat templates cannot store underscore-prefixed attributes on a namespace, but got " +
              string_repr(name) + ". Please rename the attribute.");
  }
  attributes_.set(name, std::move(value));
}

Loop::Loop(Interpreter& interpreter, const ForStatement& statement, const Value& items,
           std::shared_ptr<Scope> outer, int depth)
    : interpreter_(interpreter),
      statement_(statement),
      items_(std::in_place, items, interpreter.budget()),
      outer_(std::move(outer)),
      depth_(depth) {
  if (statement.filter) filter_scope_ = interpreter.filter_scope(statement, outer_);
  if (!statement.filter && !items.is_sequence(SequenceType::generator)) length_ = length_of(items);
}

std::optional<Value> Loop::pull() {
  while (std::optional<Value> item = items_->next()) {
    if (!filter_scope_ || interpreter_.passes_filter(statement_, *item, filter_scope_)) return item;
  }
  return std::nullopt;
}

const std::optional<Value>& Loop::peek() {
  if (!after_) after_ = pull();
  return after_;
}

bool Loop::advance() {
  std::optional<Value> item = after_ ? std::exchange(after_, std::nullopt) : pull();
  if (!item) return false;
  ++index0_;
  before_ = std::move(current_);
  current_ = std::move(item);
  return true;
}

int64_t Loop::length() {
  if (!length_) {
    // The items that follow, all through the filter now, as jinja2 does when it has to count a
    // generator.
    std::vector<Value> rest;
    while (std::optional<Value> item = pull()) rest.push_back(*item);
    length_ = static_cast<int64_t>(rest.size()) + index0_ + 1 + (after_ ? 1 : 0);
    // From here on nothing is filtered again.
    items_.emplace(Value::list(std::move(rest)), interpreter_.budget());
    filter_scope_ = nullptr;
  }
  return *length_;
}

void Loop::release() {
  items_.emplace(Value::list({}), interpreter_.budget());
  filter_scope_ = nullptr;
}

Value Loop::call(Interpreter& interpreter, Arguments& arguments) {
  if (!statement_.recursive) {
    raise("TypeError", "The loop must have the 'recursive' marker to be called recursively.");
  }
  const BoundArguments bound("loop", arguments, {"iterable"}, 1);
  return Value::text(interpreter.run_loop_captured(statement_, bound[0], outer_, depth_ + 1));
}

namespace {

Value loop_cycle(Interpreter& in, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) raise("TypeError", "no items for cycling given");
  const Value index = *self.as_object().attribute(in, "index0");
  return arguments
      .positional[static_cast<size_t>(index.as_integer()) % arguments.positional.size()];
}

Value loop_changed(Interpreter& in, const Value& self, const Arguments& arguments) {
  return Value::boolean(
      static_cast<Loop&>(self.as_object()).note_change(arguments.positional, in.budget()));
}

constexpr Method kCycle{"cycle", loop_cycle};
constexpr Method kChanged{"changed", loop_changed};

}  // namespace

bool Loop::note_change(const std::vector<Value>& values, Budget& budget) {
  Value now = Value::tuple(values);
  if (last_changed_ && equal(*last_changed_, now, budget)) return false;
  last_changed_ = std::move(now);
  return true;
}

std::optional<Value> Loop::attribute(Interpreter&, const std::string& name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek().has_value());
  if (name == "length") return Value::integer(length());
  if (name == "revindex") return Value::integer(length() - index0_);
  if (name == "revindex0") return Value::integer(length() - index0_ - 1);
  if (name == "depth") return Value::integer(depth_ + 1);
  if (name == "depth0") return Value::integer(depth_);
  if (name == "previtem") {
    return index0_ == 0 || !before_ ? Value::undefined("there is no previous item") : *before_;
  }
  if (name == "nextitem") return peek() ? *peek() : Value::undefined("there is no next item");
  if (name == "cycle")
    return Value::object(std::make_shared<BoundMethod>(Value::borrowed(*this), kCycle));
  if (name == "changed")
    return Value::object(std::make_shared<BoundMethod>(Value::borrowed(*this), kChanged));
  return std::nullopt;
}

std::string Loop::repr(Budget&) const {
  return "<LoopContext " + std::to_string(index0_ + 1) + "/" +
         std::to_string(const_cast<Loop*>(this)->length()) + ">";
}

}  // namespace isobit::jinja

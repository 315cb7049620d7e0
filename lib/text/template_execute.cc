// Statements.
#include "text/template_interpreter.h"
#include "text/template_objects.h"

namespace isobit::jinja {
namespace {

// What "".join() makes of all that was written.
std::string finished(Output output) {
  if (output.not_text)
    raise("TypeError", "sequence item: expected str instance, " + *output.not_text + " found");
  return std::move(output.text);
}

}  // namespace

Interpreter::Interpreter(const ParsedTemplate& parsed,
                         std::optional<std::chrono::local_seconds> now, Limits limits)
    : parsed_(parsed),
      now_(now),
      budget_(limits.max_steps),
      max_output_bytes_(limits.max_output_bytes) {}

Interpreter::~Interpreter() = default;

std::string Interpreter::run(const Dict& variables) {
  variables_ = &variables;
  context_values_.resize(parsed_.context_names.size());
  scope_ = entered(parsed_.frame, nullptr);
  Output out;
  out_ = &out;
  execute(parsed_.body);
  out_ = nullptr;
  return finished(std::move(out));
}

std::chrono::local_seconds Interpreter::read_clock() {
  if (!now_) {
    raise("ClockError", "the template reads the clock (strftime_now), and no time was given");
  }
  clock_was_read_ = true;
  return *now_;
}

Value Interpreter::own(std::unique_ptr<Object> object) {
  owned_.push_back(std::move(object));
  return Value::borrowed(*owned_.back());
}

void Interpreter::write(std::string_view text) {
  budget_.spend_bytes(text.size());
  if (out_->text.size() + text.size() > max_output_bytes_) {
    raise("LimitError",
          "the template writes more than " + std::to_string(max_output_bytes_) + " bytes");
  }
  out_->text += text;
}

void Interpreter::write_value(const Value& value) {
  if (value.is_text()) return write(value.as_text());
  if (!out_->not_text) out_->not_text = value.type_name();
}

std::string Interpreter::captured_output(const std::function<void()>& write_all) {
  Output output;
  Output* const outer = std::exchange(out_, &output);
  ++capture_depth_;
  write_all();
  --capture_depth_;
  out_ = outer;
  return finished(std::move(output));
}

std::pair<std::string, Interpreter::Flow> Interpreter::captured(const Body& body) {
  Flow flow = Flow::next;
  std::string text = captured_output([&] { flow = execute(body); });
  return {std::move(text), flow};
}

Interpreter::Flow Interpreter::execute(const Body& body) {
  for (const auto& statement : body) {
    const Flow flow = execute(*statement);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
  const Budget::Level level(budget_);
  budget_.spend(1);
  line_ = statement.line;
  return std::visit([this](const auto& what) { return execute(what); }, statement.what);
}

Interpreter::Flow Interpreter::execute(const TextStatement& s) {
  write(s.text);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const PrintStatement& s) {
  for (const ExpressionPtr& value : s.values) write(str(evaluate(*value), budget_));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const IfStatement& s) {
  for (const IfStatement::Branch& branch : s.branches) {
    if (truth(evaluate(*branch.test))) return execute(branch.body);
  }
  return execute(s.otherwise);
}

Interpreter::Flow Interpreter::execute(const ForStatement& s) {
  const Value iterable = evaluate(*s.iterable);
  run_loop(s, iterable, scope_, 0);
  return Flow::next;
}

void Interpreter::run_loop(const ForStatement& s, const Value& items,
                           const std::shared_ptr<Scope>& outer, int depth) {
  auto made = std::make_unique<Loop>(*this, s, items, outer, depth);
  Loop& loop = *made;
  const Value loop_value = own(std::move(made));
  // jinja2 clears its "nothing was iterated" mark after the body, so a loop left by break or
  // continue in every iteration still runs its else.
  bool finished_an_iteration = false;
  std::shared_ptr<Scope> scope;
  while (loop.advance()) {
    if (scope.use_count() == 1)  // no macro kept it
      fill(*scope, s.frame);
    else
      scope = entered(s.frame, outer);
    const ScopeChange change(*this, scope);
    scope->slots[static_cast<size_t>(s.loop_slot)] = loop_value;
    assign(s.target, loop.current());
    const Flow flow = execute(s.body);
    if (flow == Flow::leave_loop) break;
    if (flow == Flow::next) finished_an_iteration = true;
  }
  loop.release();
  if (s.has_else && !finished_an_iteration) {
    const ScopeChange change(*this, entered(s.else_frame, outer));
    execute(s.otherwise);
  }
}

std::string Interpreter::run_loop_captured(const ForStatement& loop, const Value& items,
                                           const std::shared_ptr<Scope>& outer, int depth) {
  return captured_output([&] { run_loop(loop, items, outer, depth); });
}

bool Interpreter::passes_filter(const ForStatement& loop, const Value& item,
                                const std::shared_ptr<Scope>& scope) {
  const ScopeChange change(*this, scope);
  assign(loop.target, item);
  return truth(evaluate(*loop.filter));
}

// Before the value is looked at, as jinja2 does it.
void Interpreter::require_namespaces(const Target& target) {
  for (const Target& part : target.tuple) require_namespaces(part);
  if (target.is_tuple || !target.attribute) return;
  const std::optional<Value>& owner = slot(target.where);
  const bool is_namespace = owner && owner->kind() == Kind::object &&
                            dynamic_cast<Namespace*>(&owner->as_object()) != nullptr;
  if (!is_namespace)
    raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
}

void Interpreter::assign(const Target& target, const Value& value) {
  if (!target.is_tuple && !target.attribute) {
    slot(target.where) = value;
    return;
  }
  if (!target.is_tuple) {
    // REQUIRES: require_namespaces(target)
    dynamic_cast<Namespace&>(slot(target.where)->as_object()).set(*target.attribute, value);
    return;
  }
  if (!is_iterable(value))
    raise("TypeError", "cannot unpack non-iterable " + value.type_name() + " object");
  const std::vector<Value> items = iterate(value, budget_);
  const size_t expected = target.tuple.size();
  if (items.size() < expected) {
    raise("ValueError", "not enough values to unpack (expected " + std::to_string(expected) +
                            ", got " + std::to_string(items.size()) + ")");
  }
  if (items.size() > expected) {
    raise("ValueError", "too many values to unpack (expected " + std::to_string(expected) + ")");
  }
  for (size_t i = 0; i < expected; ++i) assign(target.tuple[i], items[i]);
}

Interpreter::Flow Interpreter::execute(const SetStatement& s) {
  require_namespaces(s.target);
  assign(s.target, evaluate(*s.value));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const SetBlockStatement& s) {
  Value value;
  {
    const ScopeChange change(*this, entered(s.frame, scope_));
    auto [text, flow] = captured(s.body);
    if (flow != Flow::next) return flow;
    value = Value::text(std::move(text));
    if (s.filter) value = evaluate_filter(*s.filter, &value);
  }
  require_namespaces(s.target);
  assign(s.target, value);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const WithStatement& s) {
  std::vector<Value> values;
  for (const auto& assignment : s.assignments) values.push_back(evaluate(*assignment.second));
  const ScopeChange change(*this, entered(s.frame, scope_));
  for (size_t i = 0; i < values.size(); ++i) assign(s.assignments[i].first, values[i]);
  return execute(s.body);
}

Interpreter::Flow Interpreter::execute(const MacroStatement& s) {
  slot(s.where) = own(std::make_unique<Macro>(s.macro, scope_));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const CallStatement& s) {
  const Value caller = own(std::make_unique<Macro>(s.caller, scope_));
  write_value(evaluate_call(*s.call, &caller));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const FilterStatement& s) {
  Value value;
  {
    const ScopeChange change(*this, entered(s.frame, scope_));
    auto [text, flow] = captured(s.body);
    if (flow != Flow::next) return flow;
    const Value written = Value::text(std::move(text));
    value = evaluate_filter(*s.filter, &written);
  }
  write_value(value);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const GenerationStatement& s) {
  Arguments none;
  const Value text = run_macro(s.written, scope_, none);
  const size_t begin = out_->text.size();
  if (capture_depth_ == 0) generation_ranges_.push_back({begin, begin + text.as_text().size()});
  write(text.as_text());
  return Flow::next;
}

// Scopes.

std::shared_ptr<Scope> Interpreter::entered(const Frame& frame,
                                            const std::shared_ptr<Scope>& outer) {
  auto scope = std::make_shared<Scope>();
  scope->outer = outer;
  fill(*scope, frame);
  return scope;
}

void Interpreter::fill(Scope& scope, const Frame& frame) {
  budget_.spend(1 + static_cast<size_t>(frame.n_slots) / 4);
  scope.slots.assign(static_cast<size_t>(frame.n_slots), std::nullopt);
  for (const FrameLoad& load : frame.loads) {
    std::optional<Value>& into = scope.slots[static_cast<size_t>(load.slot)];
    if (load.context_name) {
      into = context_value(*load.context_name);
      continue;
    }
    const Scope* from = &scope;
    for (int hop = 0; hop < load.outer.hops; ++hop) from = from->outer.get();
    into = from->slots[static_cast<size_t>(load.outer.slot)];
  }
}

std::optional<Value>& Interpreter::slot(const SlotRef& where) {
  Scope* scope = scope_.get();
  for (int hop = 0; hop < where.hops; ++hop) scope = scope->outer.get();
  return scope->slots[static_cast<size_t>(where.slot)];
}

const std::optional<Value>& Interpreter::context_value(int name) {
  std::optional<std::optional<Value>>& known = context_values_[static_cast<size_t>(name)];
  if (!known) {
    const std::string& text = parsed_.context_names[static_cast<size_t>(name)];
    const Value* given = variables_->find(text);
    known = given != nullptr ? std::optional(*given) : global_named(text);
  }
  return *known;
}

}  // namespace isobit::jinja

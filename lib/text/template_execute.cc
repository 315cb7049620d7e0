// Statements.
#include "text/template_interpreter.h"
#include "text/template_objects.h"

namespace isobit::jinja {

const Value* Scope::find(const std::string& name) const {
  for (const auto& [known, value] : names) {
    if (known == name) return &value;
  }
  return nullptr;
}

void Scope::set(const std::string& name, Value value) {
  for (auto& [known, old] : names) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  names.emplace_back(name, std::move(value));
}

Interpreter::Interpreter(const ParsedTemplate& parsed,
                         std::optional<std::chrono::local_seconds> now, Limits limits)
    : parsed_(parsed),
      now_(now),
      budget_(limits.max_steps),
      max_output_bytes_(limits.max_output_bytes) {}

Interpreter::~Interpreter() = default;

std::string Interpreter::run(const Dict& variables) {
  std::string out;
  variables_ = &variables;
  out_ = &out;
  scope_ = std::make_shared<Scope>(nullptr);
  execute(parsed_.body);
  return out;
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
  if (out_->size() + text.size() > max_output_bytes_) {
    raise("LimitError",
          "the template writes more than " + std::to_string(max_output_bytes_) + " bytes");
  }
  *out_ += text;
}

std::string Interpreter::captured(const Body& body) {
  const ScopeChange change(*this, std::make_shared<Scope>(scope_));
  std::string text;
  std::string* const outer = std::exchange(out_, &text);
  ++capture_depth_;
  execute(body);
  --capture_depth_;
  out_ = outer;
  return text;
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
  run_loop(s, iterate(iterable, budget_), scope_, 0);
  return Flow::next;
}

void Interpreter::run_loop(const ForStatement& s, std::vector<Value> items,
                           const std::shared_ptr<Scope>& outer, int depth) {
  auto made = std::make_unique<Loop>(*this, s, std::move(items), outer, depth);
  Loop& loop = *made;
  const Value loop_value = own(std::move(made));
  // jinja2 clears its "nothing was iterated" mark after the body, so a loop left by break or
  // continue in every iteration still runs its else.
  bool finished_an_iteration = false;
  while (loop.advance()) {
    const ScopeChange change(*this, std::make_shared<Scope>(outer));
    scope_->set("loop", loop_value);
    assign(s.target, loop.current());
    const Flow flow = execute(s.body);
    if (flow == Flow::leave_loop) break;
    if (flow == Flow::next) finished_an_iteration = true;
  }
  loop.release();
  if (s.has_else && !finished_an_iteration) {
    const ScopeChange change(*this, std::make_shared<Scope>(outer));
    execute(s.otherwise);
  }
}

std::string Interpreter::run_loop_captured(const ForStatement& loop, std::vector<Value> items,
                                           const std::shared_ptr<Scope>& outer, int depth) {
  std::string text;
  std::string* const saved = std::exchange(out_, &text);
  ++capture_depth_;
  run_loop(loop, std::move(items), outer, depth);
  --capture_depth_;
  out_ = saved;
  return text;
}

bool Interpreter::passes_filter(const ForStatement& loop, const Value& item,
                                const std::shared_ptr<Scope>& outer) {
  const ScopeChange change(*this, std::make_shared<Scope>(outer));
  assign(loop.target, item);
  return truth(evaluate(*loop.filter));
}

void Interpreter::assign(const Target& target, const Value& value) {
  if (target.is_tuple) {
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
    return;
  }
  if (!target.attribute) {
    scope_->set(target.name, value);
    return;
  }
  Expression name{.type = ExpressionType::name,
                  .line = target.line,
                  .depth = 1,
                  .name = target.name,
                  .value = {},
                  .children = {},
                  .operators = {},
                  .arguments = nullptr};
  const Value owner = evaluate_name(name);
  auto* names =
      owner.kind() == Kind::object ? dynamic_cast<Namespace*>(&owner.as_object()) : nullptr;
  if (names == nullptr)
    raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
  names->set(*target.attribute, value);
}

Interpreter::Flow Interpreter::execute(const SetStatement& s) {
  assign(s.target, evaluate(*s.value));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const SetBlockStatement& s) {
  Value value = Value::text(captured(s.body));
  if (s.filter) value = evaluate_filter(*s.filter, &value);
  assign(s.target, value);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const WithStatement& s) {
  std::vector<Value> values;
  for (const auto& assignment : s.assignments) values.push_back(evaluate(*assignment.second));
  const ScopeChange change(*this, std::make_shared<Scope>(scope_));
  for (size_t i = 0; i < values.size(); ++i) assign(s.assignments[i].first, values[i]);
  return execute(s.body);
}

Interpreter::Flow Interpreter::execute(const MacroStatement& s) {
  scope_->set(s.macro.name, own(std::make_unique<Macro>(s.macro, scope_)));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const CallStatement& s) {
  const Value caller = own(std::make_unique<Macro>(s.caller, scope_));
  write(str(evaluate_call(*s.call, &caller), budget_));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const FilterStatement& s) {
  const Value text = Value::text(captured(s.body));
  write(str(evaluate_filter(*s.filter, &text), budget_));
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const GenerationStatement& s) {
  const std::string text = captured(s.body);
  if (capture_depth_ == 0) generation_ranges_.push_back({out_->size(), out_->size() + text.size()});
  write(text);
  return Flow::next;
}

}  // namespace isobit::jinja

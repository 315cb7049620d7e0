// Calling a macro: arguments to parameters with jinja2's rules, then the body in a scope of its
// own.
#include <algorithm>

#include "text/template_objects.h"

namespace isobit::jinja {
namespace {

// Takes the named argument out into `value`, if it is there.
void take_named(Arguments& arguments, const std::string& name, std::optional<Value>& value) {
  for (size_t i = 0; i < arguments.named.size(); ++i) {
    if (arguments.named[i].first != name) continue;
    value = arguments.named[i].second;
    arguments.named.erase(arguments.named.begin() + static_cast<long>(i));
    return;
  }
}

std::string name_of(const MacroBody& macro) {
  return macro.name.empty() ? "None" : string_repr(macro.name);
}

[[noreturn]] void refuse_named(const MacroBody& macro, const Arguments& arguments) {
  const bool has_caller = std::any_of(arguments.named.begin(), arguments.named.end(),
                                      [](const auto& a) { return a.first == "caller"; });
  if (has_caller) {
    raise("TypeError", "macro " + name_of(macro) +
                           " was invoked with two values for the special caller argument. This is "
                           "most likely a bug.");
  }
  raise("TypeError", "macro " + name_of(macro) + " takes no keyword argument " +
                         string_repr(arguments.named[0].first));
}

// What is left after the parameters: the special names that the body uses, or an error.
void bind_rest(const MacroBody& macro, Arguments& arguments, Scope& scope) {
  const auto set = [&](int slot, Value value) {
    scope.slots[static_cast<size_t>(slot)] = std::move(value);
  };
  if (macro.caller_slot) {
    std::optional<Value> caller;
    take_named(arguments, "caller", caller);
    set(*macro.caller_slot,
        caller && !caller->is_none() ? *caller : Value::undefined("No caller defined"));
  }
  if (macro.kwargs_slot) {
    Dict rest;
    for (const auto& [name, value] : arguments.named) rest.set(name, value);
    set(*macro.kwargs_slot, Value::dict(std::move(rest)));
  } else if (!arguments.named.empty()) {
    refuse_named(macro, arguments);
  }
  const size_t n_parameters = macro.parameters.size();
  if (macro.varargs_slot) {
    const auto from = static_cast<long>(std::min(n_parameters, arguments.positional.size()));
    set(*macro.varargs_slot,
        Value::tuple({arguments.positional.begin() + from, arguments.positional.end()}));
  } else if (arguments.positional.size() > n_parameters) {
    raise("TypeError", "macro " + name_of(macro) + " takes not more than " +
                           std::to_string(n_parameters) + " argument(s)");
  }
}

}  // namespace

Value Interpreter::run_macro(const MacroBody& macro, const std::shared_ptr<Scope>& defined_in,
                             Arguments& arguments) {
  const std::shared_ptr<Scope> scope = entered(macro.frame, defined_in);
  std::vector<std::optional<Value>> given(macro.parameters.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (i < arguments.positional.size())
      given[i] = arguments.positional[i];
    else
      take_named(arguments, macro.parameters[i].name, given[i]);
  }
  bind_rest(macro, arguments, *scope);
  const ScopeChange change(*this, scope);
  for (size_t i = 0; i < given.size(); ++i)
    scope->slots[static_cast<size_t>(macro.parameters[i].slot)] = given[i];
  for (const Parameter& parameter : macro.parameters) {
    std::optional<Value>& value = scope->slots[static_cast<size_t>(parameter.slot)];
    if (value) continue;
    if (parameter.fallback) {
      Value made = evaluate(*parameter.fallback);
      scope->slots[static_cast<size_t>(parameter.slot)] = std::move(made);
    } else {
      value = Value::undefined("parameter " + string_repr(parameter.name) + " was not provided");
    }
  }
  return Value::text(captured(macro.body).first);
}

}  // namespace isobit::jinja

// Filters of lists, dicts and whatever can be iterated that look at all of it at once; and the
// look-up of all filters.
#include <algorithm>
#include <set>

#include "text/template_attribute_path.h"
#include "text/template_filters.h"
#include "text/template_objects.h"
#include "text/template_parser.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

struct Keyed {
  Value key;
  Value item;
};

std::vector<Value> sorted_by_key(std::vector<Keyed> keyed, bool reverse, Budget& budget) {
  // Python keeps the order of equals under reverse too: it reverses, sorts, and reverses.
  if (reverse) std::reverse(keyed.begin(), keyed.end());
  std::stable_sort(keyed.begin(), keyed.end(),
                   [&](const Keyed& a, const Keyed& b) { return less(a.key, b.key, budget); });
  if (reverse) std::reverse(keyed.begin(), keyed.end());
  std::vector<Value> out;
  for (Keyed& k : keyed) out.push_back(std::move(k.item));
  return out;
}

Value sort(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("sort", arguments, {"reverse", "case_sensitive", "attribute"}, 0);
  const bool ignore_case = !bound.flag(1, false);
  std::vector<AttributePath> paths;
  if (bound.given(2) && bound[2].is_text()) {
    std::string_view rest = bound[2].as_text();
    for (bool more = true; more;) {
      const size_t comma = std::min(rest.find(','), rest.size());
      paths.emplace_back(in, Value::text(std::string(rest.substr(0, comma))), ignore_case);
      more = comma < rest.size();
      if (more) rest.remove_prefix(comma + 1);
    }
  } else {
    paths.emplace_back(in, bound.value_or(2, {}), ignore_case);
  }
  std::vector<Keyed> keyed;
  for (Value& item : iterate(v, in.budget())) {
    std::vector<Value> key;
    for (const AttributePath& path : paths) key.push_back(path.of(item));
    keyed.push_back({Value::list(std::move(key)), std::move(item)});
  }
  return Value::list(sorted_by_key(std::move(keyed), bound.integer_or(0, 0) != 0, in.budget()));
}

Value dictsort(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("dictsort", arguments, {"case_sensitive", "by", "reverse"}, 0);
  const Value by_name = bound.value_or(1, Value::text("key"));
  const std::string by = by_name.is_text() ? by_name.as_text() : std::string();
  if (by != "key" && by != "value")
    raise("FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
  if (v.is_undefined()) v.raise_undefined();
  if (!v.is_dict())
    raise("AttributeError", "'" + v.type_name() + "' object has no attribute 'items'");
  in.budget().spend(v.as_dict().size());
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : v.as_dict().entries()) {
    const Value& chosen = by == "key" ? key : value;
    keyed.push_back({bound.flag(0, false) ? chosen : lowered(chosen), Value::tuple({key, value})});
  }
  return Value::list(sorted_by_key(std::move(keyed), bound.integer_or(2, 0) != 0, in.budget()));
}

Value groupby(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const bool ignore_case = !bound.flag(2, false);
  const AttributePath path(in, bound[0], ignore_case, bound.value_or(1, {}));
  const AttributePath exact(in, bound[0], false, bound.value_or(1, {}));
  std::vector<Keyed> keyed;
  for (Value& item : iterate(v, in.budget())) {
    Value key = path.of(item);
    keyed.push_back({std::move(key), std::move(item)});
  }
  std::vector<Value> groups;
  std::vector<Value> members;
  Value group_key;
  const auto close = [&] {
    if (members.empty()) return;
    Value name = exact.of(members.front());
    std::vector<Value> pair{std::move(name), Value::list(std::exchange(members, {}))};
    groups.push_back(Value::sequence(SequenceType::tuple, std::move(pair), kGroupLabel));
  };
  for (const Value& item : sorted_by_key(std::move(keyed), false, in.budget())) {
    Value key = path.of(item);
    if (!members.empty() && !equal(key, group_key, in.budget())) close();
    group_key = std::move(key);
    members.push_back(item);
  }
  close();
  return Value::list(std::move(groups));
}

template <bool smallest>
Value extreme(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound(smallest ? "min" : "max", arguments, {"case_sensitive", "attribute"},
                             0);
  const AttributePath path(in, bound.value_or(1, {}), !bound.flag(0, false));
  std::optional<Keyed> best;
  for (Value& item : iterate(v, in.budget())) {
    Value key = path.of(item);
    if (best && key.is_undefined()) key.raise_undefined();  // Python asks the new one first
    if (!best ||
        (smallest ? less(key, best->key, in.budget()) : less(best->key, key, in.budget(), ">"))) {
      best = Keyed{std::move(key), std::move(item)};
    }
  }
  return best ? best->item : Value::undefined("No aggregated item, sequence was empty.");
}

Value sum(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("sum", arguments, {"attribute", "start"}, 0);
  const AttributePath path(in, bound.value_or(0, {}));
  Value total = bound.value_or(1, Value::integer(0));
  if (total.is_text()) raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  for (Value& item : iterate(v, in.budget()))
    total = arithmetic(Operator::add, total, path.of(std::move(item)), in.budget());
  return total;
}

Value join(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("join", arguments, {"d", "attribute"}, 0);
  const AttributePath path(in, bound.value_or(1, {}));
  const std::string separator = bound.given(0) ? str(bound[0], in.budget()) : "";
  std::string out;
  bool first = true;
  for (Value& item : iterate(v, in.budget())) {
    if (!std::exchange(first, false)) out += separator;
    in.budget().spend_bytes(separator.size());
    out += str(path.of(std::move(item)), in.budget());
  }
  return Value::text(std::move(out));
}

Value first(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("first", arguments, {}, 0);
  const std::optional<Value> item = Iteration(v, in.budget()).next();
  return item ? *item : Value::undefined("No first item, sequence was empty.");
}

Value last(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("last", arguments, {}, 0);
  if (v.is_sequence(SequenceType::generator))
    raise("TypeError", "'" + v.type_name() + "' object is not reversible");
  const std::vector<Value> items = iterate(v, in.budget());
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value reverse(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("reverse", arguments, {}, 0);
  std::vector<Value> items;
  try {
    items = iterate(v, in.budget());
  } catch (const Fault& fault) {  // also one from inside a generator
    if (fault.type == "TypeError") raise("FilterArgumentError", "argument must be iterable");
    throw;
  }
  std::reverse(items.begin(), items.end());
  if (v.is_text()) {
    std::string out;
    for (const Value& c : items) out += c.as_text();
    return Value::text(std::move(out), v.is_markup());
  }
  if (v.is_sequence(SequenceType::generator)) return Value::list(std::move(items));
  Iteration rest(Value::list(std::move(items)), in.budget());
  return generated(
      v.depth() + 1, [=]() mutable { return rest.next(); },
      v.is_sequence(SequenceType::list) ? "list_reverseiterator" : "reversed");
}

Value list(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("list", arguments, {}, 0);
  return Value::list(iterate(v, in.budget()));
}

Value length(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("len", arguments, {}, 0);
  return Value::integer(length_of(v));
}

Value default_value(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("default", arguments, {"default_value", "boolean"}, 0);
  const bool use = v.is_undefined() || (bound.flag(1, false) && !truth(v));
  return use ? bound.value_or(0, Value::text("")) : v;
}

Value attribute(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("attr", arguments, {"name"}, 1);
  const std::string& name = bound.text(0);
  if (v.is_dict() && find_container_method(v, name) == nullptr && !name.starts_with("__")) {
    return Value::undefined("'dict object' has no attribute " + string_repr(name));
  }
  return in.attribute(v, name);
}

constexpr Filter kFilters[] = {
    {"attr", attribute},    {"count", length},   {"d", default_value}, {"default", default_value},
    {"dictsort", dictsort}, {"first", first},    {"groupby", groupby}, {"join", join},
    {"last", last},         {"length", length},  {"list", list},       {"max", extreme<false>},
    {"min", extreme<true>}, {"random", nullptr}, {"reverse", reverse}, {"sort", sort},
    {"sum", sum},
};

}  // namespace

const Filter* find_sequence_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

const Filter* find_filter(const std::string& name) {
  for (const auto find : {find_text_filter, find_number_filter, find_sequence_filter,
                          find_lazy_filter, find_layout_filter}) {
    if (const Filter* found = find(name)) return found;
  }
  return nullptr;
}

bool is_filter_name(const std::string& name) {
  return find_filter(name) != nullptr;
}

Value Interpreter::apply_filter(const std::string& name, const Value& value,
                                const Arguments& arguments) {
  const Budget::Level level(budget_);
  budget_.spend(1);
  const Filter* filter = find_filter(name);
  if (filter == nullptr)
    raise("TemplateRuntimeError", "No filter named " + string_repr(name) + ".");
  if (filter->body == nullptr) raise(kNotSupported, "the filter " + name);
  return filter->body(*this, value, arguments);
}

}  // namespace isobit::jinja

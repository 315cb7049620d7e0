// Filters of lists, dicts and whatever can be iterated; and the look-up of all filters.
#include <algorithm>
#include <set>

#include "text/template_filters.h"
#include "text/template_objects.h"
#include "text/template_parser.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

Value lowered(const Value& v) {
  return v.is_text() ? Value::text(to_lower(v.as_text())) : v;
}

// "a.b.0" as a path of look-ups; what map(attribute=), sort(attribute=) and the others read items
// with.
class AttributePath {
 public:
  AttributePath(Interpreter& in, const Value& attribute, bool ignore_case = false,
                const Value& fallback = {})
      : in_(in), ignore_case_(ignore_case), fallback_(fallback) {
    if (attribute.is_none()) return;
    if (!attribute.is_text()) {
      parts_.push_back(attribute);
      return;
    }
    std::string_view rest = attribute.as_text();
    for (bool more = true; more;) {
      const size_t dot = std::min(rest.find('.'), rest.size());
      const std::string part(rest.substr(0, dot));
      const bool is_number =
          !part.empty() && part.size() < 18 && part.find_first_not_of("0123456789") == part.npos;
      parts_.push_back(is_number ? Value::integer(std::stoll(part)) : Value::text(part));
      more = dot < rest.size();
      if (more) rest.remove_prefix(dot + 1);
    }
  }

  Value of(Value item) const {
    for (const Value& part : parts_) {
      item = in_.item(item, part);
      if (item.is_undefined() && !fallback_.is_none()) item = fallback_;
    }
    return ignore_case_ ? lowered(item) : item;
  }

 private:
  Interpreter& in_;
  bool ignore_case_;
  Value fallback_;
  std::vector<Value> parts_;
};

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
  return Value::list(sorted_by_key(std::move(keyed), bound.flag(0, false), in.budget()));
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
  return Value::list(sorted_by_key(std::move(keyed), bound.flag(2, false), in.budget()));
}

Value unique(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("unique", arguments, {"case_sensitive", "attribute"}, 0);
  const AttributePath path(in, bound.value_or(1, {}), !bound.flag(0, false));
  std::set<std::string> seen;
  std::vector<Value> out;
  for (Value& item : iterate(v, in.budget())) {
    if (seen.insert(key_identity(path.of(item))).second) out.push_back(std::move(item));
  }
  return Value::generator(std::move(out));
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
  const std::vector<Value> items = iterate(v, in.budget());
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Value last(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("last", arguments, {}, 0);
  if (v.is_undefined()) raise("TypeError", "'Undefined' object is not reversible");
  if (v.is_sequence(SequenceType::generator))
    raise("TypeError", "'" + v.type_name() + "' object is not reversible");
  const std::vector<Value> items = iterate(v, in.budget());
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value reverse(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("reverse", arguments, {}, 0);
  if (!is_iterable(v)) raise("FilterArgumentError", "argument must be iterable");
  std::vector<Value> items = iterate(v, in.budget());
  std::reverse(items.begin(), items.end());
  if (v.is_text()) {
    std::string out;
    for (const Value& c : items) out += c.as_text();
    return Value::text(std::move(out), v.is_markup());
  }
  if (v.is_undefined() || v.is_sequence(SequenceType::generator))
    return Value::list(std::move(items));
  return Value::generator(std::move(items),
                          v.is_sequence(SequenceType::list) ? "list_reverseiterator" : "reversed");
}

Value list(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("list", arguments, {}, 0);
  return Value::list(iterate(v, in.budget()));
}

Value items(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("items", arguments, {}, 0);
  if (v.is_undefined()) return Value::generator({});
  if (!v.is_dict()) raise("TypeError", "Can only get item pairs from a mapping.");
  in.budget().spend(v.as_dict().size());
  std::vector<Value> out;
  for (const auto& [key, value] : v.as_dict().entries()) out.push_back(Value::tuple({key, value}));
  return Value::generator(std::move(out));
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

Value batch(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t size = bound.integer(0);
  std::vector<Value> out;
  std::vector<Value> line;
  for (Value& item : iterate(v, in.budget())) {
    if (static_cast<int64_t>(line.size()) == size)
      out.push_back(Value::list(std::exchange(line, {})));
    line.push_back(std::move(item));
  }
  if (!line.empty()) {
    if (bound.given_and_not_none(1) && size > static_cast<int64_t>(line.size())) {
      in.budget().spend(static_cast<size_t>(size));
      line.resize(static_cast<size_t>(size), bound[1]);
    }
    out.push_back(Value::list(std::move(line)));
  }
  return Value::generator(std::move(out));
}

Value slice(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("slice", arguments, {"slices", "fill_with"}, 1);
  const std::vector<Value> all = iterate(v, in.budget());
  const int64_t n_slices = bound.integer(0);
  if (n_slices == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
  std::vector<Value> out;
  if (n_slices > 0) in.budget().spend(static_cast<size_t>(n_slices));
  const auto n = static_cast<int64_t>(all.size());
  size_t at = 0;
  for (int64_t i = 0; i < n_slices; ++i) {
    const bool longer = i < n % n_slices;
    const auto size = static_cast<size_t>(n / n_slices + (longer ? 1 : 0));
    std::vector<Value> part(all.begin() + static_cast<long>(at),
                            all.begin() + static_cast<long>(at + size));
    at += size;
    if (!longer && bound.given_and_not_none(1)) part.push_back(bound[1]);
    out.push_back(Value::list(std::move(part)));
  }
  return Value::generator(std::move(out));
}

Value attribute(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("attr", arguments, {"name"}, 1);
  const std::string& name = bound.text(0);
  if (v.is_dict() && find_container_method(v, name) == nullptr && !name.starts_with("__")) {
    return Value::undefined("'dict object' has no attribute " + string_repr(name));
  }
  return in.attribute(v, name);
}

// The rest of an argument list, after the first `n`.
Arguments without_first(const Arguments& arguments, size_t n) {
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<long>(n),
                         arguments.positional.end());
  rest.named = arguments.named;
  return rest;
}

Value map(Interpreter& in, const Value& v, const Arguments& arguments) {
  std::vector<Value> out;
  if (!truth(v)) return Value::generator({});
  if (arguments.positional.empty()) {
    const BoundArguments bound("map", arguments, {"", "attribute", "default"}, 0);
    if (!bound.given(1)) raise("FilterArgumentError", "map requires a filter argument");
    const AttributePath path(in, bound[1], false, bound.value_or(2, {}));
    for (Value& item : iterate(v, in.budget())) out.push_back(path.of(std::move(item)));
    return Value::generator(std::move(out));
  }
  const Value& name = arguments.positional[0];
  if (!name.is_text())
    raise("TemplateRuntimeError", "No filter named " + repr(name, in.budget()) + ".");
  const Arguments rest = without_first(arguments, 1);
  for (const Value& item : iterate(v, in.budget()))
    out.push_back(in.apply_filter(name.as_text(), item, rest));
  return Value::generator(std::move(out));
}

template <bool by_attribute, bool keep>
Value select(Interpreter& in, const Value& v, const Arguments& arguments) {
  if (!truth(v)) return Value::generator({});
  size_t n_used = 0;
  Value attribute;
  if (by_attribute) {
    if (arguments.positional.empty())
      raise("FilterArgumentError", "Missing parameter for attribute name");
    attribute = arguments.positional[n_used++];
  }
  const AttributePath path(in, attribute);
  std::string test;
  if (n_used < arguments.positional.size()) {
    const Value& name = arguments.positional[n_used++];
    if (!name.is_text())
      raise("TemplateRuntimeError", "No test named " + repr(name, in.budget()) + ".");
    test = name.as_text();
  }
  const Arguments rest = without_first(arguments, n_used);
  std::vector<Value> out;
  for (const Value& item : iterate(v, in.budget())) {
    const Value tested = path.of(item);
    const bool passes = test.empty() ? truth(tested) : in.apply_test(test, tested, rest);
    if (passes == keep) out.push_back(item);
  }
  return Value::generator(std::move(out));
}

constexpr Filter kFilters[] = {
    {"attr", attribute},
    {"batch", batch},
    {"count", length},
    {"d", default_value},
    {"default", default_value},
    {"dictsort", dictsort},
    {"first", first},
    {"groupby", groupby},
    {"items", items},
    {"join", join},
    {"last", last},
    {"length", length},
    {"list", list},
    {"map", map},
    {"max", extreme<false>},
    {"min", extreme<true>},
    {"random", nullptr},
    {"reject", select<false, false>},
    {"rejectattr", select<true, false>},
    {"reverse", reverse},
    {"select", select<false, true>},
    {"selectattr", select<true, true>},
    {"slice", slice},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
    {"xmlattr", nullptr},
};

}  // namespace

const Filter* find_sequence_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

bool is_filter_name(const std::string& name) {
  return find_text_filter(name) != nullptr || find_sequence_filter(name) != nullptr;
}

Value Interpreter::apply_filter(const std::string& name, const Value& value,
                                const Arguments& arguments) {
  const Budget::Level level(budget_);
  budget_.spend(1);
  const Filter* filter = find_text_filter(name);
  if (filter == nullptr) filter = find_sequence_filter(name);
  if (filter == nullptr)
    raise("TemplateRuntimeError", "No filter named " + string_repr(name) + ".");
  if (filter->body == nullptr) raise(kNotSupported, "the filter " + name);
  return filter->body(*this, value, arguments);
}

}  // namespace isobit::jinja
